#include "strategies/strategy.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>

#include <utility>

#include "messages/error.h"
#include "strategies/gradient_buckets.h"
#include "strategies/step_trace.h"
#include "tensors/bridge.h"

namespace trainyard {
namespace {

/// Runs an operation on a tensor where it lies, or through a copy in host memory.
template <class Operation>
Pending on_host(at::Tensor flat, Operation operation) {
  const auto elements_of = [](const at::Tensor& tensor) {
    return Elements{tensor.data_ptr(), dtype_of(tensor.scalar_type()), static_cast<std::uint64_t>(tensor.numel())};
  };
  if (flat.device().is_cpu()) {
    flat.unsafeGetTensorImpl()->bump_version();  // Others write to the memory; whoever asks for changes sees that.
    return Pending(operation(elements_of(flat)));
  }
  const at::NoGradGuard no_gradients;
  const at::Tensor host = flat.to(at::kCPU);
  operation(elements_of(host)).wait();
  flat.copy_(host);
  return {};
}

}  // namespace

Strategy::Strategy(StrategyContext& context) : Configurable(context.where, context.parameters), context_(context) {}

Strategy::~Strategy() = default;

void Strategy::check_world_size(std::uint32_t world_size) const {
  const StrategyTraits served = traits();
  if (world_size >= served.min_ranks && (served.max_ranks == 0 || world_size <= served.max_ranks)) return;
  const std::string most = served.max_ranks == 0 ? "or more" : fmt::format("to {}", served.max_ranks);
  const std::string number = served.max_ranks == served.min_ranks
                                 ? fmt::format("{} rank{}", served.min_ranks, served.min_ranks == 1 ? "" : "s")
                                 : fmt::format("{} {} ranks", served.min_ranks, most);
  throw Error(Code::kUnsupported, "{}: it serves {}, the run has {}{}", where(), number, world_size,
              served.max_ranks == 1 ? "; use strategy = 'ddp' for several" : "");
}

void Strategy::set_up(const Replica& replica) {
  replica_ = replica;
  if (replica_.world == nullptr) return;
  // Shards have different sizes.
  if (!arena().shard().parameters) replica_.world->use(arena().parameter_memory());
  if (!arena().shard().gradients) replica_.world->use(arena().gradient_memory());
  if (arena().shard().gradients) return;  // Whoever cuts gradients down brings them by himself.
  constexpr std::uint64_t kFirstBytes = 1 << 20;
  buckets_ = std::make_unique<GradientBuckets>(model().parameters(), arena().layout().entries, arena().gradients(),
                                               kFirstBytes, bucket_bytes(),
                                               [this](const Bucket& bucket, at::Tensor gradients) {
                                                 const TraceSpan span(replica_.trace, "reduce", "communication");
                                                 pending_.push_back(reduce(bucket, std::move(gradients)));
                                               });
  buckets_->on_progress = [this] { progress(); };
}

void Strategy::start() {
  if (replica_.world == nullptr) return;
  broadcast(arena().parameters(), 0).wait();
  if (arena().has_buffers()) broadcast(arena().buffers(), 0).wait();
}

at::Tensor Strategy::train(const ModelBatch& batch, double weight, bool last) {
  at::Tensor loss = forward(batch);
  if (last && buckets_) buckets_->arm();
  return backward(std::move(loss), weight);
}

void Strategy::train_nothing(bool /*last*/) {}

void Strategy::finish_gradients() {
  const TraceSpan span(replica_.trace, "wait for reductions", "communication");
  if (buckets_) buckets_->flush();
  for (Pending& pending : pending_) pending.wait();
  pending_.clear();
}

void Strategy::progress() { world().progress(); }

void Strategy::drop_gradients() { arena().gradients().view(-1).zero_(); }

at::Tensor Strategy::forward(const ModelBatch& batch) const {
  const TraceSpan span(replica_.trace, "forward", "compute");
  const ForwardScope scope = replica_.forward_scope();
  return replica_.check_loss(model().training_step(batch));
}

/// Weight and loss scale enter as the seed of the backward pass: the loss itself needs no further operation.
at::Tensor Strategy::backward(at::Tensor loss, double weight) {
  const TraceSpan span(replica_.trace, "backward", "compute");
  if (!weight_.defined() || weight_value_ != weight) {
    weight_ = at::full({}, weight, loss.options());
    weight_value_ = weight;
  }
  loss.backward(weight_);
  return loss.detach();  // The graph goes with the argument, so that nothing holds on to the batch.
}

std::vector<NamedMetric> Strategy::evaluate(const ModelBatch& batch) { return model().evaluation_step(batch); }

Prediction Strategy::predict(const ModelBatch& batch) { return model().predict(batch); }

Pending Strategy::all_reduce(at::Tensor flat, ReduceOp op) const {
  return on_host(std::move(flat), [&](Elements elements) { return world().all_reduce(elements, op); });
}

Pending Strategy::broadcast(at::Tensor flat, std::uint32_t root) const {
  return on_host(std::move(flat), [&](Elements elements) { return world().broadcast(elements, root); });
}

Pending Strategy::reduce_scatter(at::Tensor flat, ReduceOp op, std::span<const std::uint64_t> bounds) const {
  return on_host(std::move(flat), [&](Elements elements) { return world().reduce_scatter(elements, op, bounds); });
}

Pending Strategy::all_gather(at::Tensor flat, std::span<const std::uint64_t> bounds) const {
  return on_host(std::move(flat), [&](Elements elements) { return world().all_gather(elements, bounds); });
}

std::map<std::string, std::string> Strategy::facts() const {
  const StrategyTraits served = traits();
  return {{"min_ranks", std::to_string(served.min_ranks)},
          {"max_ranks", served.max_ranks == 0 ? "any" : std::to_string(served.max_ranks)},
          {"one_process", served.one_process ? "true" : "false"},
          {"same_data", served.same_data ? "true" : "false"}};
}

}  // namespace trainyard
