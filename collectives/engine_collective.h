#pragma once

#include <memory>

#include "collectives/collective.h"
#include "collectives/engine.h"

namespace trainyard {

/// A collective that is an engine and a data plane: what zmq, gloo and mpi share. Send, recv and barriers go over the
/// mesh. Bounds are checked here; a group of one does nothing.
class EngineCollective : public Collective {
 public:
  EngineCollective(CollectiveContext& context, std::unique_ptr<DataPlane> plane);
  ~EngineCollective() override;

  void connect() override;
  Work all_reduce(Elements data, ReduceOp op) override;
  Work broadcast(Elements data, std::uint32_t root) override;
  Work all_gather(Elements data, std::span<const std::uint64_t> bounds = {}) override;
  Work reduce_scatter(Elements data, ReduceOp op, std::span<const std::uint64_t> bounds = {}) override;
  Work barrier() override;
  Work send(Elements data, std::uint32_t to) override;
  Work recv(Elements data, std::uint32_t from) override;

 protected:
  void wait(std::uint64_t number) override;
  bool done(std::uint64_t number) override;
  /// What the mesh is made of.
  virtual Transport transport() const { return Transport::kIpc; }

 private:
  Work ask(OperationKind kind, Elements data, ReduceOp op, std::uint32_t member,
           std::span<const std::uint64_t> bounds = {});
  void check_member(std::string_view what, std::uint32_t member, bool may_be_own) const;

  std::unique_ptr<DataPlane> plane_;  ///< Until connect().
  std::unique_ptr<Engine> engine_;    ///< From then on; null for a group of one.
};

}  // namespace trainyard
