#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "core/config/configurable.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_context.h"

namespace trainyard {

class Accelerator;

/// What a strategy is made with: its rank is in the PluginContext.
struct StrategyContext : PluginContext {
  Accelerator* accelerator = nullptr;  ///< Of this rank; null while only the declaration is wanted.
};

/// A run of neighbouring gradients that is reduced as one.
struct Bucket {
  std::uint32_t index = 0;         ///< 0 holds the parameters that backward finishes first: the last ones of forward.
  std::uint32_t count = 1;         ///< Buckets in all.
  std::uint64_t offset_bytes = 0;  ///< In the gradient block of the arena.
  std::uint64_t bytes = 0;
};

/// A reduction under way. `wait` returns when the bucket holds its result, or throws: kTimeout names the silent rank.
class Pending {
 public:
  Pending() = default;
  explicit Pending(std::function<void()> wait) : wait_(std::move(wait)) {}
  void wait() {
    if (wait_) std::exchange(wait_, nullptr)();
  }

 private:
  std::function<void()> wait_;  ///< Empty: done already.
};

/// How the ranks work together on one model. Lives inside the accelerator host, because it works on its arena in place;
/// hardware-neutral code calls the strategy, the strategy calls the accelerator.
class Strategy : public Configurable {
 public:
  static constexpr const char* kKind = "strategy";
  using Context = StrategyContext;

  explicit Strategy(StrategyContext& context) : Configurable(context.where, context.parameters), context_(context) {}

  /// How many ranks it can serve; throws kUnsupported if `world_size` is not among them.
  virtual void check_world_size(std::uint32_t world_size) const = 0;

  /// The largest bucket it wants; 0 = all gradients in one.
  virtual std::uint64_t bucket_bytes() const { return 0; }

  /// Makes all ranks start from the same parameters (flat, on this rank's device).
  virtual void start(at::Tensor parameters) = 0;

  /// Starts to reduce one bucket in place and returns at once. `gradients` is flat, on this rank's device. Called in
  /// the same order on every rank, as soon as backward has finished the bucket.
  virtual Pending reduce(const Bucket& bucket, at::Tensor gradients) = 0;

  /// Called when the optimizer has changed the parameters.
  virtual void after_update(at::Tensor /*parameters*/) {}

  /// A sum over ranks of a small vector: metric sums and weights. float64, on the CPU, in place.
  virtual void all_reduce_metrics(at::Tensor sums) = 0;

 protected:
  const StrategyContext& context() const { return context_; }

 private:
  StrategyContext context_;
};

}  // namespace trainyard

/// Registers a strategy; the last line of its .cpp, inside no namespace.
#define TRAINYARD_STRATEGY(Class, name, description) \
  TRAINYARD_PLUGIN("strategy", ::trainyard::Strategy, ::trainyard::StrategyContext, Class, name, "1", description)
