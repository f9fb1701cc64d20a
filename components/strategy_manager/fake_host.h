// SPDX-License-Identifier: Apache-2.0
#pragma once

// For tests of RunAgenda: simulates the accelerator host and the checkpoint writer, which answer its orders.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "components/strategy_manager/run_agenda.h"

namespace trainyard::manager {

/// Returns a description of an order: "train e0 b4 n8", "evaluate validate n5 e0", "checkpoint final". Here e is the
/// epoch, b is the number of samples of the epoch that have already been used, and n is the number of batches.
inline std::string text_of(const Order& order) {
  if (order.kind == OrderKind::kTrain) {
    return fmt::format("train e{} b{} n{}", order.cursor.epoch, order.cursor.samples, order.batches);
  }
  if (order.kind == OrderKind::kEvaluate || order.kind == OrderKind::kPredict) {
    return fmt::format("{} {} n{} e{}", name_of(order.kind), order.split, order.batches, order.epoch);
  }
  if (order.kind == OrderKind::kGenerate) return "generate";
  return fmt::format("{} {}", name_of(order.kind), order.reason);
}

/// Answers one order at a time, when the test calls answer_one(). The answers contain the same step numbers as those of
/// a real accelerator host.
class FakeHost {
 public:
  explicit FakeHost(RunAgenda& agenda, std::uint64_t step = 0) : step_(step), agenda_(agenda) { take_orders(); }

  /// Answers the oldest open order. Returns false if there is none.
  bool answer_one() {
    if (open.empty()) return false;
    const Order order = open.front();
    open.pop_front();
    const bool writes = order.kind == OrderKind::kCheckpoint;
    agenda_.order_done(carry_out(order));
    if (writes) agenda_.checkpoint_done({.order = order.id, .step = step_, .error = write_error});
    take_orders();
    return true;
  }

  /// Answers orders until none is open, but at most 100,000 in case the run never ends.
  void run() {
    for (int i = 0; i < 100'000 && answer_one(); ++i) {
    }
  }

  /// Takes all orders that the agenda issues now, and updates `most_open`.
  void take_orders() {
    while (const auto order = agenda_.next()) {
      orders.push_back(*order);
      if (order->kind == OrderKind::kStop) open.clear();
      open.push_back(*order);
      most_open = std::max(most_open, open.size());
    }
  }

  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (const Order& order : orders) all.push_back(text_of(order));
    return all;
  }

  std::uint64_t step() const { return step_; }

  std::vector<Order> orders;  ///< All orders that have been received.
  std::deque<Order> open;
  std::size_t most_open = 0;
  std::string write_error;
  std::function<std::vector<Scalar>(const Order&)> evaluate = [](const Order&) {
    return std::vector<Scalar>{{"loss", 1.0}};
  };

 private:
  /// Returns the answer to an order, as if it had been carried out.
  OrderDone carry_out(const Order& order) {
    OrderDone done{.order = order.id, .kind = order.kind, .split = order.split, .epoch = order.epoch};
    if (order.kind == OrderKind::kTrain) step_ += (order.batches + order.micro_batches - 1) / order.micro_batches;
    if (order.kind == OrderKind::kEvaluate) done.metrics = evaluate(order);
    done.step = step_;
    done.batches = order.batches;
    done.stopped = order.kind == OrderKind::kStop;
    return done;
  }

  std::uint64_t step_;
  RunAgenda& agenda_;
};

}  // namespace trainyard::manager
