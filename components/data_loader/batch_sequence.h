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
  LoaderCursor place;          ///< The place of the batch in the plan.
  LoaderCursor next;           ///< The position at which training continues after this batch.
  bool last_in_epoch = false;  ///< True for the last batch of the epoch or the evaluation.
};

/// The sequence of batches to read, which results from the orders. It also determines the order to which each sent
/// batch belongs.
///
/// When the batches of all orders have been read, it continues with the training stream, because a train order most
/// likely follows, and its first batches are then ready. If an order needs other batches, the batches read ahead are
/// discarded.
class BatchSequence {
 public:
  /// `train` is null if there is no split for training. `evaluate` contains a plan for every split. Both must outlive
  /// the sequence.
  BatchSequence(const BatchPlan* train, const std::map<std::string, BatchPlan>& evaluate);

  /// The result of add() if all jobs have become invalid.
  static constexpr std::uint64_t kEverything = ~std::uint64_t{0};

  /// Adds the next order. Returns the number of newest jobs that are now invalid and will never be sent; after a stop
  /// this is kEverything. Throws kInvalidArgument for an order that cannot be served.
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
  /// Records that `job`, which must be the oldest unsent job, is now sent.
  Stamp send(const Job& job);

  /// Returns the position at which training continues after the last batch that was sent.
  const LoaderCursor& cursor() const { return sent_; }

 private:
  /// The remaining part of an order.
  struct Span {
    std::uint64_t order = 0;
    std::uint64_t epoch = 0;
    const BatchPlan* plan = nullptr;
    LoaderCursor place;  ///< The next batch to read.
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
