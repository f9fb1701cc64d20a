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

/// A batch that the data loader must read.
struct Job {
  const BatchPlan* plan = nullptr;
  LoaderCursor place;          ///< The position of the batch in its plan.
  LoaderCursor next;           ///< The position at which training continues after this batch.
  bool last_in_epoch = false;  ///< True for the last batch of an epoch or of an evaluation.
};

/// Determines which batches the data loader must read, from the orders of the strategy manager (the component that
/// directs the run), such as "train 32 batches". It also determines to which order each sent batch belongs.
///
/// When the batches of all orders have been read, the sequence continues with the following training batches, which the
/// next order will probably need. If that order needs other batches, these guesses become invalid.
class BatchSequence {
 public:
  /// `train` is the plan for training, or null if the dataset has no split `train`. `evaluate` contains, for every
  /// split, the plan for evaluating it. Both must outlive the sequence.
  BatchSequence(const BatchPlan* train, const std::map<std::string, BatchPlan>& evaluate);

  /// The result of add() if all unsent jobs have become invalid.
  static constexpr std::uint64_t kEverything = ~std::uint64_t{0};

  /// Adds the next order. Returns how many of the most recent jobs from next() have become invalid; their batches must
  /// not be sent. For an order to stop, returns kEverything. Throws kInvalidArgument for an order that cannot be
  /// carried out, for instance because the split does not exist.
  std::uint64_t add(const Order& order);

  /// Returns the next batch to read, or nothing if no order needs a batch and no batch can be read ahead.
  std::optional<Job> next();

  /// Returns true if an order still needs batches that have not been sent.
  bool wanted() const { return !spans_.empty(); }

  /// The order and the epoch to which a batch belongs.
  struct Stamp {
    std::uint64_t order = 0;
    std::uint64_t epoch = 0;
  };
  /// Records that the batch of `job`, which must be the oldest unsent job, is sent now. wanted() must be true. Returns
  /// the order and the epoch to which the batch belongs.
  Stamp send(const Job& job);

  /// Returns the position at which training continues after the last training batch that was sent.
  const LoaderCursor& cursor() const { return sent_; }

 private:
  /// The part of an order that remains to be done.
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
  std::uint64_t guesses_ = 0;  ///< The number of jobs after `end_` that next() has returned.
  bool guessing_ = true;
  LoaderCursor sent_;
};

}  // namespace trainyard
