// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "components/accelerator_host/active_order.h"

namespace trainyard::host {

/// Asks for a copy of the arena. The order is complete once it has made the request; it need not wait, because nothing
/// may change the arena until the copy is made.
class CheckpointOrder final : public ActiveOrder {
 public:
  CheckpointOrder(const std::shared_ptr<const Order>& order, Workplace& workplace) : ActiveOrder(order, workplace, 0) {}

  void begin() override;

 private:
  void use(const Batch&) override {}
};

}  // namespace trainyard::host
