// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "components/accelerator_host/active_order.h"

namespace trainyard::host {

/// Carries out an order to predict: sends the model's predictions for every batch that has samples.
class PredictOrder final : public ActiveOrder {
 public:
  PredictOrder(const std::shared_ptr<const Order>& order, Workplace& workplace)
      : ActiveOrder(order, workplace, order->batches) {}

  void abandon() override;

 private:
  void use(const Batch& batch) override;
  void conclude(OrderDone& done) override;
};

/// Carries out an order to generate: the model produces output without input, for instance a text. Only rank 0 sends
/// this output.
class GenerateOrder final : public ActiveOrder {
 public:
  GenerateOrder(const std::shared_ptr<const Order>& order, Workplace& workplace) : ActiveOrder(order, workplace, 0) {}

  void begin() override;

 private:
  void use(const Batch&) override {}
};

}  // namespace trainyard::host
