// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "collectives/backend.h"
#include "collectives/mesh.h"

namespace trainyard::collectives {

/// An agreement over a mesh of sockets. Every member sends each of its requests to all other members, so each member
/// sees for itself which requests differ or are missing. For each operation, this takes one message in each direction
/// between each pair of members.
class MeshAgreement final : public Agreement {
 public:
  /// Connects the mesh. Throws what Mesh throws.
  MeshAgreement(const CollectiveContext& context, Sockets sockets) : mesh_(context, sockets) {}

  Mesh& mesh() { return mesh_; }

  bool announce(const Operation& operation) override;
  const Request* request_of(std::uint32_t member, const Operation& operation) const override;
  void finished(const Operation& operation) override;
  void tell(const Failure& failure) override;
  std::optional<Failure> told() override;
  void receive() override { mesh_.receive(); }
  bool rest(const Pause& pause, const std::function<bool()>& look_again) override;
  void wake() override { mesh_.wake(); }
  void leave(bool failed) override;

 private:
  Mesh mesh_;
};

/// Checks with pings over a mesh of sockets which members are still there. If the engine has a separate thread
/// (Thread::kOwn), pings are answered even while the thread that uses the collective computes.
class MeshAttendance final : public Attendance {
 public:
  explicit MeshAttendance(Mesh& mesh) : mesh_(mesh) {}

  Presence presence(std::uint32_t member) override { return mesh_.presence(member); }
  std::uint64_t signs(std::uint32_t member) const override { return mesh_.received(member); }
  void show(const Answer& answer) override;
  void probe() override;
  std::optional<Answer> answer(std::uint32_t member) const override;

 private:
  Mesh& mesh_;
  std::uint64_t probes_ = 0;
};

/// The transport for send and recv over a mesh. It accepts only host memory.
class MeshMessages final : public Transport {
 public:
  MeshMessages(Mesh& mesh, std::vector<std::uint32_t> ranks) : mesh_(mesh), ranks_(std::move(ranks)) {}

  std::unique_ptr<Transfer> begin(const Operation& operation) override;

 private:
  Mesh& mesh_;
  const std::vector<std::uint32_t> ranks_;
};

/// Connects a mesh and returns a backend that uses it. The caller must still set Backend::transport, which transfers
/// the data of collective operations. Sets `mesh` to the mesh, which the backend's agreement owns. Throws what Mesh
/// throws.
Backend over_mesh(const CollectiveContext& context, Sockets sockets, Mesh*& mesh);

}  // namespace trainyard::collectives
