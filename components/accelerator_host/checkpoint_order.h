// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "components/accelerator_host/active_order.h"

namespace trainyard::host {

/// Carries out a checkpoint order: asks the checkpoint writer for a copy of the arena. The order is then complete. It
/// need not wait for the copy, because nothing changes the parameters until the copy is made.
class CheckpointOrder final : public ActiveOrder {
 public:
  CheckpointOrder(const std::shared_ptr<const Order>& order, Workplace& workplace) : ActiveOrder(order, workplace, 0) {}

  void begin() override;

 private:
  void use(const Batch&) override {}
};

}  // namespace trainyard::host
