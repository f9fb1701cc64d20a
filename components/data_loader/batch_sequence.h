// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "components/data_loader/batch_plan.h"
#include "messages/order.h"

namespace trainyard {

/// One batch to be read.
struct Job {
  const BatchPlan* plan = nullptr;
  LoaderCursor place;          ///< The position of the batch in the plan.
  LoaderCursor next;           ///< The position at which training continues after this batch.
  bool last_in_epoch = false;  ///< True for the last batch of the epoch or the evaluation.
};

/// The sequence of batches to read, which follows from the orders. It also determines to which order each sent batch
/// belongs.
///
/// When the batches of all orders have been read, the sequence continues with training batches, because a train order
/// most likely follows. If the next order needs other batches, these guesses become invalid.
class BatchSequence {
 public:
  /// `train` is the plan for training, or null if there is no split to train on. `evaluate` contains a plan for
  /// evaluating every split. Both must outlive the sequence.
  BatchSequence(const BatchPlan* train, const std::map<std::string, BatchPlan>& evaluate);

  /// The result of add() if all jobs have become invalid.
  static constexpr std::uint64_t kEverything = ~std::uint64_t{0};

  /// Adds the next order. Returns how many of the newest jobs have become invalid and must not be sent; for a stop this
  /// is kEverything. Throws kInvalidArgument for an order that cannot be carried out.
  std::uint64_t add(const Order& order);

  /// Returns the next batch to read, or nothing if no order needs a batch and no batch can be read ahead.
  std::optional<Job> next();

  /// Returns true while some order has batches that have not been sent yet.
  bool wanted() const { return !spans_.empty(); }

  /// The order and epoch to which the oldest unsent job belongs.
  struct Stamp {
    std::uint64_t order = 0;
    std::uint64_t epoch = 0;
  };
  /// Records that `job`, which must be the oldest unsent job, is sent now. Returns the order and the epoch to which it
  /// belongs.
  Stamp send(const Job& job);

  /// Returns the position at which training continues after the last batch that was sent.
  const LoaderCursor& cursor() const { return sent_; }

 private:
  /// The remaining part of an order.
  struct Span {
    std::uint64_t order = 0;
    std::uint64_t epoch = 0;
    const BatchPlan* plan = nullptr;
    LoaderCursor place;  ///< The position of the next batch to read.
    LoaderCursor next;   ///< For an evaluation: the position at which training continues.
    std::uint64_t to_read = 0;
    std::uint64_t to_send = 0;
  };

  Span train(const Order& order) const;
  Span evaluate(const Order& order) const;
  std::uint64_t append(const Span& span);
  std::uint64_t stop();
  std::uint64_t void_guesses();
  bool is_training(const Span& span) const { return span.plan == train_; }
  Job job_of(Span& span);
  Job guess();

  const BatchPlan* train_;
  const std::map<std::string, BatchPlan>& evaluate_;
  std::deque<Span> spans_;
  LoaderCursor end_;           ///< The training position after all orders.
  std::uint64_t guesses_ = 0;  ///< The number of jobs that were returned beyond `end_`.
  bool guessing_ = true;
  LoaderCursor sent_;
};

}  // namespace trainyard
