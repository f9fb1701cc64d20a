// SPDX-License-Identifier: Apache-2.0
#include "collectives/my_collective/my_collective.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "collectives/mesh_agreement.h"
#include "collectives/rank_order.h"

namespace example {

namespace collectives = trainyard::collectives;

namespace {

/// Carries out one operation. In this class, a member is the index of a rank within the group of ranks that take part.
class MyCollectiveTransfer final : public collectives::Transfer {
 public:
  MyCollectiveTransfer(collectives::Mesh& mesh, const collectives::Operation& operation)
      : mesh_(mesh), operation_(operation) {
    for (const std::uint32_t member : others()) mesh.send(member, tag(), operation.request, operation.whole());
  }

  /// Does as much of the operation as is possible without waiting. Called again whenever data has arrived.
  collectives::Progress advance(collectives::Effort) override {
    if (!missing()->empty()) return collectives::Progress::kNothing;
    std::vector<trainyard::Buffer> arrived(mesh_.size());
    std::vector<const void*> inputs(mesh_.size(), operation_.at(0));
    for (const std::uint32_t member : others()) {
      arrived[member] = mesh_.take(member, tag())->body;
      inputs[member] = arrived[member].data();
    }
    if (operation_.reduces()) {
      collectives::reduce_in_order(operation_.request.op, operation_.data.dtype, inputs, operation_.at(0),
                                   operation_.data.count);
    } else {
      for (const std::uint32_t member : others()) copy_part(member, arrived[member]);
    }
    return collectives::Progress::kFinished;
  }

  /// Returns the members for whose data the operation is still waiting. The error message for a timeout names them.
  std::optional<std::vector<std::uint32_t>> missing() const override {
    std::vector<std::uint32_t> members = others();
    std::erase_if(members, [&](std::uint32_t member) { return mesh_.has(member, tag()); });
    return members;
  }

 private:
  collectives::Tag tag() const { return {collectives::Tag::kData, 0, operation_.order}; }

  std::vector<std::uint32_t> others() const {
    std::vector<std::uint32_t> members;
    for (std::uint32_t member = 0; member < mesh_.size(); ++member) {
      if (member != mesh_.own()) members.push_back(member);
    }
    return members;
  }

  void copy_part(std::uint32_t member, const trainyard::Buffer& whole) {
    const std::span<std::byte> part = operation_.part(member);
    const auto offset = part.data() - operation_.at(0);
    if (!part.empty()) std::memcpy(part.data(), whole.data() + offset, part.size());
  }

  collectives::Mesh& mesh_;
  const collectives::Operation& operation_;
};

class MyCollectiveTransport final : public collectives::Transport {
 public:
  explicit MyCollectiveTransport(collectives::Mesh& mesh) : mesh_(mesh) {}

  std::unique_ptr<collectives::Transfer> begin(const collectives::Operation& operation) override {
    return std::make_unique<MyCollectiveTransfer>(mesh_, operation);
  }

 private:
  collectives::Mesh& mesh_;
};

}  // namespace

// The mesh connects every rank with every other rank, and makes sure that all of them begin the same operation.
collectives::Backend MyCollective::open() {
  collectives::Mesh* mesh = nullptr;
  collectives::Backend backend = collectives::over_mesh(context(), collectives::Sockets::kIpc, mesh);
  backend.transport = std::make_unique<MyCollectiveTransport>(*mesh);
  return backend;
}

}  // namespace example

TRAINYARD_COLLECTIVE(example::MyCollective, "my_collective", "Every rank sends everything to every other rank.")
