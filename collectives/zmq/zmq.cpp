// SPDX-License-Identifier: Apache-2.0
#include "collectives/zmq/zmq.h"

#include <algorithm>
#include <cstring>

#include "collectives/mesh_agreement.h"
#include "collectives/rank_order.h"
#include "messages/error.h"

namespace trainyard::collectives {
namespace {

/// The largest reduction in bytes in which every member sends all elements to every other member. This saves a round of
/// messages; in larger reductions, the amount of data matters more.
constexpr std::uint64_t kLittleBytes = 16 << 10;

std::vector<std::uint32_t> all_but(std::uint32_t own, std::uint32_t size) {
  std::vector<std::uint32_t> members;
  for (std::uint32_t member = 0; member < size; ++member) {
    if (member != own) members.push_back(member);
  }
  return members;
}

/// The common part of all operations. An operation consists of one or two stages, in each of which this member waits
/// for one message from each of `senders_`.
class ZmqTransfer : public Transfer {
 public:
  ZmqTransfer(Mesh& mesh, const Operation& operation)
      : mesh_(mesh), operation_(operation), others_(all_but(mesh.own(), mesh.size())) {}

  std::optional<std::vector<std::uint32_t>> missing() const override {
    std::vector<std::uint32_t> members = senders_;
    std::erase_if(members, [&](std::uint32_t member) { return mesh_.has(member, tag()); });
    return members;
  }

 protected:
  Tag tag() const { return {Tag::kData, stage_, operation_.order}; }
  bool all_sent() const {
    return std::ranges::all_of(senders_, [&](std::uint32_t member) { return mesh_.has(member, tag()); });
  }
  void send(std::uint32_t member, std::span<const std::byte> bytes) {
    if (!bytes.empty()) mesh_.send(member, tag(), operation_.request, bytes);
  }
  /// Returns the elements that a member has sent in this stage. All members have made the same request, so a size other
  /// than `bytes` is an error.
  Buffer take(std::uint32_t member, std::size_t bytes) {
    Buffer body = mesh_.take(member, tag())->body;
    if (body.size() == bytes) return body;
    throw Error(Code::kCorrupt, "{} bytes came where {} were expected", body.size(), bytes);
  }

  Mesh& mesh_;
  const Operation& operation_;
  const std::vector<std::uint32_t> others_;
  std::vector<std::uint32_t> senders_;  ///< The members that send in this stage.
  std::uint32_t stage_ = 0;
};

class ZmqBroadcast final : public ZmqTransfer {
 public:
  ZmqBroadcast(Mesh& mesh, const Operation& operation) : ZmqTransfer(mesh, operation) {
    if (operation.request.member != mesh.own()) {
      senders_ = {operation.request.member};
    } else {
      for (const std::uint32_t member : others_) send(member, operation.whole());
    }
  }

  Progress advance(Effort) override {
    if (!all_sent()) return Progress::kNothing;
    for (const std::uint32_t member : senders_) {
      std::memcpy(operation_.at(0), take(member, operation_.bytes()).data(), operation_.bytes());
    }
    return Progress::kFinished;
  }
};

/// An all_gather, or the second stage of an all_reduce: every member sends its part to all others.
class ZmqGather final : public ZmqTransfer {
 public:
  ZmqGather(Mesh& mesh, const Operation& operation, std::uint32_t stage = 0) : ZmqTransfer(mesh, operation) {
    stage_ = stage;
    for (const std::uint32_t member : others_) {
      send(member, operation.part(mesh.own()));
      if (!operation.part(member).empty()) senders_.push_back(member);
    }
  }

  Progress advance(Effort) override {
    if (!all_sent()) return Progress::kNothing;
    for (const std::uint32_t member : senders_) {
      const std::span part = operation_.part(member);
      std::memcpy(part.data(), take(member, part.size()).data(), part.size());
    }
    return Progress::kFinished;
  }
};

/// A reduction: every member receives the elements that it reduces from all others. These are all elements, or its
/// part; in the second case, the reduced parts may then be gathered.
class ZmqReduce final : public ZmqTransfer {
 public:
  enum class What { kOwnPart, kPartsThenGather, kEverything };

  ZmqReduce(Mesh& mesh, const Operation& operation, What what) : ZmqTransfer(mesh, operation), what_(what) {
    for (const std::uint32_t member : others_) send(member, piece_of(member));
    if (!piece_of(mesh.own()).empty()) senders_ = others_;
  }

  std::optional<std::vector<std::uint32_t>> missing() const override {
    return gather_ ? gather_->missing() : ZmqTransfer::missing();
  }

  Progress advance(Effort effort) override {
    if (!gather_) {
      if (!all_sent()) return Progress::kNothing;
      reduce();
      if (what_ != What::kPartsThenGather) return Progress::kFinished;
      gather_ = std::make_unique<ZmqGather>(mesh_, operation_, 1);
    }
    return gather_->advance(effort);
  }

 private:
  /// Returns the memory of the elements that a member reduces.
  std::span<std::byte> piece_of(std::uint32_t member) const {
    if (what_ == What::kEverything) return operation_.whole();
    return operation_.part(member);
  }

  void reduce() {
    const std::span own = piece_of(mesh_.own());
    if (own.empty()) return;
    std::vector<Buffer> kept;
    std::vector<const void*> inputs;
    for (std::uint32_t member = 0; member < mesh_.size(); ++member) {
      if (member != mesh_.own()) kept.push_back(take(member, own.size()));
      inputs.push_back(member == mesh_.own() ? own.data() : kept.back().data());
    }
    const DType dtype = operation_.data.dtype;
    reduce_in_order(operation_.request.op, dtype, inputs, own.data(), own.size() / size_of(dtype));
  }

  const What what_;
  std::unique_ptr<ZmqGather> gather_;
};

class ZmqTransport final : public Transport {
 public:
  explicit ZmqTransport(Mesh& mesh) : mesh_(mesh) {}

  std::unique_ptr<Transfer> begin(const Operation& operation) override {
    using What = ZmqReduce::What;
    switch (operation.request.kind) {
      case OperationKind::kBroadcast:
        return std::make_unique<ZmqBroadcast>(mesh_, operation);
      case OperationKind::kAllGather:
        return std::make_unique<ZmqGather>(mesh_, operation);
      case OperationKind::kReduceScatter:
        return std::make_unique<ZmqReduce>(mesh_, operation, What::kOwnPart);
      default:
        return std::make_unique<ZmqReduce>(
            mesh_, operation, operation.bytes() <= kLittleBytes ? What::kEverything : What::kPartsThenGather);
    }
  }

  // Sends the elements together with the request rather than after all members have agreed, which saves a round trip.
  Begins begins() const override { return Begins::kAtOnce; }

 private:
  Mesh& mesh_;
};

}  // namespace

Backend Zmq::open() {
  Mesh* mesh = nullptr;
  Backend backend = over_mesh(context(), *transport_ == "tcp" ? Sockets::kTcp : Sockets::kIpc, mesh);
  backend.transport = std::make_unique<ZmqTransport>(*mesh);
  return backend;
}

}  // namespace trainyard::collectives

TRAINYARD_COLLECTIVE(trainyard::collectives::Zmq, "zmq", "over sockets of libzmq: slow, but always available")
