// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "components/accelerator_host/active_order.h"

namespace trainyard::host {

/// Carries out an evaluation: computes the metrics of its batches, without gradients. The answer contains the means
/// over the samples of this rank; the strategy manager merges the means of several ranks.
class EvaluateOrder final : public ActiveOrder {
 public:
  EvaluateOrder(const std::shared_ptr<const Order>& order, Workplace& workplace)
      : ActiveOrder(order, workplace, order->batches) {}

  void abandon() override;

 private:
  void use(const Batch& batch) override;
  void conclude(OrderDone& done) override;

  /// The samples and metrics of every batch. The metrics stay on the device until the last batch has been evaluated.
  std::vector<std::pair<double, std::vector<NamedMetric>>> evaluated_;
};

}  // namespace trainyard::host
