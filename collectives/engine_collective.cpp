#include "collectives/engine_collective.h"

#include "messages/error.h"

namespace trainyard {

EngineCollective::EngineCollective(CollectiveContext& context, std::unique_ptr<DataPlane> plane)
    : Collective(context), plane_(std::move(plane)) {}

EngineCollective::~EngineCollective() = default;

void EngineCollective::connect() {
  plane_->check(context());
  if (size() == 1) return;
  auto mesh = std::make_unique<Mesh>(context(), transport());
  plane_->connect(context(), *mesh);
  engine_ = std::make_unique<Engine>(context(), std::move(mesh), std::move(plane_));
}

Work EngineCollective::all_reduce(Elements data, ReduceOp op) { return ask(OperationKind::kAllReduce, data, op, 0); }

Work EngineCollective::broadcast(Elements data, std::uint32_t root) {
  check_member("the root of a broadcast", root, true);
  return ask(OperationKind::kBroadcast, data, ReduceOp::kSum, root);
}

Work EngineCollective::all_gather(Elements data, std::span<const std::uint64_t> bounds) {
  check_bounds(data.count, bounds);
  return ask(OperationKind::kAllGather, data, ReduceOp::kSum, 0, bounds);
}

Work EngineCollective::reduce_scatter(Elements data, ReduceOp op, std::span<const std::uint64_t> bounds) {
  check_bounds(data.count, bounds);
  return ask(OperationKind::kReduceScatter, data, op, 0, bounds);
}

Work EngineCollective::barrier() { return ask(OperationKind::kBarrier, {}, ReduceOp::kSum, 0); }

Work EngineCollective::send(Elements data, std::uint32_t to) {
  check_member("the receiver", to, false);
  return ask(OperationKind::kSend, data, ReduceOp::kSum, to);
}

Work EngineCollective::recv(Elements data, std::uint32_t from) {
  check_member("the sender", from, false);
  return ask(OperationKind::kRecv, data, ReduceOp::kSum, from);
}

void EngineCollective::wait(std::uint64_t number) { engine_->wait(number); }

bool EngineCollective::done(std::uint64_t number) { return engine_->done(number); }

Work EngineCollective::ask(OperationKind kind, Elements data, ReduceOp op, std::uint32_t member,
                           std::span<const std::uint64_t> bounds) {
  if (size() == 1) return {};
  if (engine_ == nullptr) throw Error(Code::kInternal, "{}: operations need connect() first", where());
  Operation operation;
  operation.request = {.kind = kind, .op = op, .dtype = data.dtype, .member = member, .count = data.count};
  operation.request.bounds = hash_of(bounds);
  operation.data = data;
  operation.bounds.assign(bounds.begin(), bounds.end());
  if (bounds.empty()) operation.bounds = equal_parts(data.count, size());
  return {*this, engine_->ask(std::move(operation))};
}

void EngineCollective::check_member(std::string_view what, std::uint32_t member, bool may_be_own) const {
  if (member < size() && (may_be_own || member != rank())) return;
  throw Error(Code::kInvalidArgument, "{}: {} is member {}; allowed are 0 to {}{}", where(), what, member, size() - 1,
              may_be_own ? "" : " but one's own");
}

}  // namespace trainyard
