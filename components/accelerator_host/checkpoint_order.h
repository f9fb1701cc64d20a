// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "components/accelerator_host/active_order.h"

namespace trainyard::host {

/// Carries out an order to save a checkpoint: asks the checkpoint writer to copy the rank's parameters and state. The
/// order is then complete. It need not wait for the copy, because the accelerator host delays the next update until the
/// copy has been made.
class CheckpointOrder final : public ActiveOrder {
 public:
  CheckpointOrder(const std::shared_ptr<const Order>& order, Workplace& workplace) : ActiveOrder(order, workplace, 0) {}

  void begin() override;

 private:
  void use(const Batch&) override {}
};

}  // namespace trainyard::host
