// SPDX-License-Identifier: Apache-2.0
#include "strategies/parameter_server/parameter_server.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "core/memory/shared_imports.h"
#include "core/memory/shared_pool.h"
#include "core/rendezvous/rendezvous.h"
#include "messages/error.h"
#include "tensors/bridge.h"

namespace trainyard {

using parameter_server::WorkerTable;

void ParameterServer::prepare_reduction() {
  const ArenaLayout& layout = arena().layout();
  memory_ = share("parameters", layout.parameter_bytes);
  const auto elements = static_cast<std::int64_t>(layout.parameter_bytes / size_of(layout.dtype));
  server_ = view_of({layout.dtype, {elements}, 0, memory_});
  // Other components read the parameters in the server's memory, so the initial values are stored there.
  if (context().rank == 0) server_.copy_(arena().parameters());
  arena().serve_from(memory_);
  table_.emplace(
      share("workers", WorkerTable::bytes(context().world_size)),
      WorkerTable::Member{
          .where = where(), .rank = context().rank, .ranks = context().world_size, .timeout = world().timeout()});
}

/// Returns shared memory that rank 0 allocates and the other ranks map.
Buffer ParameterServer::share(const std::string& name, std::size_t bytes) const {
  const std::string key = "parameter_server/" + name;
  if (context().rank == 0) {
    Buffer memory = context().pool->allocate_permanent(bytes);
    const SharedHandle& handle = memory.shared().value();
    context().rendezvous->put(key, {reinterpret_cast<const char*>(&handle), sizeof handle});
    return memory;
  }
  const std::string note = context().rendezvous->get(key, world().timeout());
  SharedHandle handle;
  if (note.size() == sizeof handle) std::memcpy(&handle, note.data(), sizeof handle);
  if (handle.bytes != bytes) {
    throw Error(Code::kShapeMismatch, "{}: rank 0 has {} bytes of '{}' for the others, rank {} needs {}", where(),
                handle.bytes, name, context().rank, bytes);
  }
  // The number of the process (0) does not matter, because uses of permanent memory are not counted.
  return core::SharedImports(0).open(handle);
}

/// Every worker copies the server's parameters, into which a checkpoint may have been restored. The model's buffers are
/// not on the server, so those of rank 0 are copied to all ranks.
void ParameterServer::synchronise(ArenaEdit& edit) {
  if (!table_) return;
  gather(edit);
  if (arena().has_buffers()) world().broadcast(arena().buffers(), 0).wait();
}

Work ParameterServer::reduce(const Bucket& /*bucket*/, const at::Tensor& gradients) {
  return is_sync() ? world().all_reduce(gradients, ReduceOp::kMean) : Work();
}

/// If the step has ended, it is skipped, and this worker continues with its next step without an update. In sync mode,
/// all ranks skip the step together, so nothing has to be recorded.
void ParameterServer::drop_gradients(ArenaEdit& edit) {
  if (table_ && step_has_ended() && !is_sync()) finish_step(edit);
}

std::uint64_t ParameterServer::claim_update(std::uint64_t step) {
  if (!table_) return step;
  if (is_sync()) return context().rank == 0 ? step : 0;
  if (!steps_before_) steps_before_ = step - 1;
  if (step_samples() == 0) return 0;
  const TraceSpan span(trace(), "wait for the server", SpanKind::kCollective);
  if (is_bounded()) table_->wait_until_begun(bound());
  table_->lock();
  // A resumed run continues the numbers of the updates; every earlier step had one update for each rank.
  return *steps_before_ * context().world_size + table_->count_update();
}

void ParameterServer::after_update(std::uint64_t /*step*/, ArenaEdit& edit) {
  if (!table_) return;
  const TraceSpan span(trace(), "new parameters", SpanKind::kCollective);
  is_sync() ? take_over_update(edit) : finish_step(edit);
}

/// Rank 0 has made the update for all ranks. The other ranks can copy the parameters without locking the table, because
/// rank 0 needs their gradients before it can make the next update.
void ParameterServer::take_over_update(ArenaEdit& edit) {
  if (context().rank == 0) {
    table_->count_update();
  } else {
    table_->wait_for_step_of(0);
    zero_gradients();  // No optimizer has used and zeroed them on this rank.
  }
  table_->end_step();
  pull(edit);
}

/// The parameters are copied while this worker has locked the table, so that no other worker changes them meanwhile.
void ParameterServer::finish_step(ArenaEdit& edit) {
  table_->end_step();
  if (is_bounded() && !table_->is_near(bound())) {
    if (table_->is_locked()) table_->unlock();
    table_->wait_until_near(bound());
  }
  if (!table_->is_locked()) table_->lock();
  pull(edit);
  table_->begin_step();
  table_->unlock();
}

void ParameterServer::pull(ArenaEdit& edit) {
  const at::NoGradGuard no_gradients;
  world().copy(server_, edit.parameters());
}

/// Between the two meetings, no worker changes the parameters or its clock, except in level().
void ParameterServer::gather(ArenaEdit& edit) {
  table_->meet();
  pull(edit);
  table_->level();
  table_->meet();
}

std::unique_ptr<Evaluation> ParameterServer::make_evaluation(ArenaEdit& edit) {
  if (table_) gather(edit);
  return std::make_unique<Evaluation>();
}

std::vector<Scalar> ParameterServer::stats() const {
  if (!table_) return {};
  return {{"staleness", static_cast<double>(table_->widest_spread())},
          {"server_updates", static_cast<double>(table_->updates())}};
}

}  // namespace trainyard

TRAINYARD_STRATEGY(
    trainyard::ParameterServer, "parameter_server",
    "Workers update a single shared copy of the parameters: together, within a limit on steps, or independently.")
