// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "components/accelerator_host/active_order.h"

namespace trainyard::host {

/// Carries out an order to stop. It abandons the order in progress, if there is one. That order and the orders that
/// were still waiting are not answered separately. The answer to the stop contains the number of batches that the
/// abandoned order had used.
class StopOrder final : public ActiveOrder {
 public:
  /// `overtaken` is the order in progress, or null.
  StopOrder(const std::shared_ptr<const Order>& order, Workplace& workplace, std::unique_ptr<ActiveOrder> overtaken)
      : ActiveOrder(order, workplace, 0), overtaken_(std::move(overtaken)) {}

  void begin() override {
    if (overtaken_) overtaken_->abandon();
  }

 private:
  void use(const Batch&) override {}
  void conclude(OrderDone& done) override {
    done.stopped = true;
    if (!overtaken_) return;
    done.batches = overtaken_->used();
    done.samples = overtaken_->samples();
  }

  std::unique_ptr<ActiveOrder> overtaken_;
};

}  // namespace trainyard::host
