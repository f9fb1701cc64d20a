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
  // Components that read the announced memory find the initial values there.
  if (context().rank == 0) server_.copy_(arena().parameters());
  arena().serve_from(memory_);
  table_.emplace(
      share("workers", WorkerTable::bytes(context().world_size)),
      WorkerTable::Member{
          .where = where(), .rank = context().rank, .ranks = context().world_size, .timeout = world().timeout()});
}

/// Returns shared memory that rank 0 makes and the other ranks map.
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
  // It is not counted, like all permanent memory, so the number of this process does not matter.
  return core::SharedImports(0).open(handle);
}

/// A checkpoint may have been restored into the server's memory. The model's buffers are each rank's own.
void ParameterServer::synchronise(ArenaEdit& edit) {
  if (!table_) return;
  gather(edit);
  if (arena().has_buffers()) world().broadcast(arena().buffers(), 0).wait();
}

Work ParameterServer::reduce(const Bucket& /*bucket*/, const at::Tensor& gradients) {
  return is_sync() ? world().all_reduce(gradients, ReduceOp::kMean) : Work();
}

/// At the end of a step this means that the step is skipped: this worker goes on without an update. In sync mode all
/// do.
void ParameterServer::drop_gradients(ArenaEdit& edit) {
  if (table_ && step_has_ended() && !is_sync()) finish_step(edit);
}

std::uint64_t ParameterServer::claim_update(std::uint64_t step) {
  if (!table_) return step;
  if (is_sync()) return context().rank == 0 ? step : 0;
  if (!first_step_) first_step_ = step - 1;
  if (step_samples() == 0) return 0;
  const TraceSpan span(trace(), "wait for the server", SpanKind::kCollective);
  if (is_bounded()) table_->wait_until_begun(bound());
  table_->lock();
  // A resumed run continues to count: every earlier step had one update by each rank.
  return *first_step_ * context().world_size + table_->count_update();
}

void ParameterServer::after_update(std::uint64_t /*step*/, ArenaEdit& edit) {
  if (!table_) return;
  const TraceSpan span(trace(), "new parameters", SpanKind::kCollective);
  is_sync() ? take_over_update(edit) : finish_step(edit);
}

/// Rank 0 has made the update for all. It makes no other before all have this one, because it needs their gradients.
void ParameterServer::take_over_update(ArenaEdit& edit) {
  if (context().rank == 0) {
    table_->count_update();
  } else {
    table_->wait_for_step_of(0);
    zero_gradients();  // On this rank, no optimizer has seen them.
  }
  table_->end_step();
  pull(edit);
}

/// The parameters are copied while this worker has its turn, so that nobody changes them meanwhile.
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
  edit.parameters().copy_(server_);
}

/// Nobody changes anything between the two meetings.
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
