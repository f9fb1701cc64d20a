#pragma once

#include "strategies/strategy.h"

namespace trainyard {

/// Data parallel in one process: every rank is a thread with a device of its own, the whole model and a part of the
/// data; gradients are averaged when backward is through. For machines where one process is enough, or all there may
/// be.
class Dp final : public Strategy {
 public:
  explicit Dp(StrategyContext& context) : Strategy(context) {}

  StrategyTraits traits() const override { return {.one_process = true}; }

  /// Throws kUnsupported naming a rank that is in another process.
  void set_up(const Replica& replica) override;
  Pending reduce(const Bucket& bucket, at::Tensor gradients) override;

 private:
  void check_one_process(Collective& world) const;
};

}  // namespace trainyard
