#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "components/accelerator_host/active_order.h"

namespace trainyard::host {

/// Evaluates: the metrics of its batches, without gradients. Its answer has their means over the samples of this rank;
/// the strategy manager merges those of several ranks.
class EvaluateOrder final : public ActiveOrder {
 public:
  EvaluateOrder(const std::shared_ptr<const Order>& order, Workplace& workplace)
      : ActiveOrder(order, workplace, order->batches) {}

  void abandon() override;

 private:
  void use(const Batch& batch) override;
  void conclude(OrderDone& done) override;

  /// Samples and metrics of every batch, which stay on the device until the last one is through.
  std::vector<std::pair<double, std::vector<NamedMetric>>> evaluated_;
};

}  // namespace trainyard::host
