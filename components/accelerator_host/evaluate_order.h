// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "components/accelerator_host/active_order.h"

namespace trainyard::host {

/// Carries out an order to evaluate: computes the metrics of the batches, without gradients. The answer contains the
/// means of the metrics over the samples of this rank; the strategy manager (the component that directs the run) merges
/// the answers of all ranks.
class EvaluateOrder final : public ActiveOrder {
 public:
  EvaluateOrder(const std::shared_ptr<const Order>& order, Workplace& workplace)
      : ActiveOrder(order, workplace, order->batches) {}

  void abandon() override;

 private:
  void use(const Batch& batch) override;
  void conclude(OrderDone& done) override;

  /// The number of samples and the metrics of every batch. The metrics stay on the device until all batches have been
  /// evaluated, so that the host waits for the device only once.
  std::vector<std::pair<double, std::vector<NamedMetric>>> evaluated_;
};

}  // namespace trainyard::host
