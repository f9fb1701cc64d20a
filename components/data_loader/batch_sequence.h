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
  LoaderCursor place;          ///< Which batch of the plan.
  LoaderCursor next;           ///< Where training continues after it.
  bool last_in_epoch = false;  ///< True for the last batch of the epoch or the evaluation.
};

/// The batch sequence: turns orders into the sequence of batches to read, and tells to which order a batch belongs that
/// is sent.
///
/// When the batches of every order have been read, it continues with the training stream, since that is what most
/// likely comes next: a train order that continues the stream finds its first batches ready. Any other order makes
/// these guesses void.
class BatchSequence {
 public:
  /// `train` may be null if there is no such split. `evaluate` has every split. Both must outlive the sequence.
  BatchSequence(const BatchPlan* train, const std::map<std::string, BatchPlan>& evaluate);

  static constexpr std::uint64_t kEverything = ~std::uint64_t{0};

  /// Takes the next order. Returns how many of the newest jobs are now void and will never be sent; after a stop this
  /// is kEverything. Throws kInvalidArgument for an order that cannot be served.
  std::uint64_t add(const Order& order);

  /// The next batch to read; empty if no more batches are known to be wanted and guessing is of no use.
  std::optional<Job> next();

  /// True if an order has batches that have not been sent yet.
  bool wanted() const { return !spans_.empty(); }

  /// The order and epoch to which the oldest unsent job belongs.
  struct Stamp {
    std::uint64_t order = 0;
    std::uint64_t epoch = 0;
  };
  Stamp send(const Job& job);

  /// Where training continues after the last batch that was sent.
  const LoaderCursor& cursor() const { return sent_; }

 private:
  /// What is left of an order.
  struct Span {
    std::uint64_t order = 0;
    std::uint64_t epoch = 0;
    const BatchPlan* plan = nullptr;
    LoaderCursor place;  ///< The next batch to read.
    LoaderCursor next;   ///< For an evaluation: where training continues.
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
  LoaderCursor end_;           ///< The training stream's position after every order.
  std::uint64_t guesses_ = 0;  ///< The number of jobs given out beyond it.
  bool guessing_ = true;
  LoaderCursor sent_;
};

}  // namespace trainyard
