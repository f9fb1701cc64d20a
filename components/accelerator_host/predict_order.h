#pragma once

#include <memory>

#include "components/accelerator_host/active_order.h"

namespace trainyard::host {

/// Predicts: sends what the model says about every batch that has samples.
class PredictOrder final : public ActiveOrder {
 public:
  PredictOrder(const std::shared_ptr<const Order>& order, Workplace& workplace)
      : ActiveOrder(order, workplace, order->batches) {}

  void abandon() override;

 private:
  void use(const Batch& batch) override;
  void conclude(OrderDone& done) override;
};

/// A prediction without batches: the model generates something from nothing.
class GenerateOrder final : public ActiveOrder {
 public:
  GenerateOrder(const std::shared_ptr<const Order>& order, Workplace& workplace) : ActiveOrder(order, workplace, 0) {}

  void begin() override;

 private:
  void use(const Batch&) override {}
};

}  // namespace trainyard::host
