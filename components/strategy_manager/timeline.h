#pragma once

#include <cstdint>
#include <string>

#include "components/strategy_manager/run_settings.h"
#include "messages/batch.h"
#include "messages/run_state.h"

namespace trainyard::manager {

/// Where training stands in steps, epochs and batches, and how far it may go before something else is due. Counts what
/// was ordered, which may be ahead of what was done.
class Timeline {
 public:
  /// `epoch_batches`: micro-batches of an epoch, limits worked in; > 0 unless no training is wanted.
  Timeline(const RunSettings& settings, std::uint64_t epoch_batches, const RunState& start);

  /// A piece of training that lies within one epoch and ends where something may be due.
  struct Stretch {
    std::uint64_t batches = 0;
    std::uint64_t steps = 0;
    std::uint64_t epoch = 0;
    LoaderCursor cursor;  ///< Where the stream of batches must stand.
  };

  /// The next piece; moves on. Only while not over().
  Stretch advance();

  /// The bounds are reached.
  bool over() const;
  /// Which bound it was, with its value. Only while over().
  std::string why_over() const;

  /// Due now, after the last piece. False where no training was done yet.
  bool validation_due() const;
  bool checkpoint_due() const;

  std::uint64_t step() const { return step_; }
  std::uint64_t epoch() const { return epoch_; }                  ///< That the next piece belongs to.
  std::uint64_t trained_epoch() const { return trained_epoch_; }  ///< That the last piece belonged to.
  std::uint64_t steps_per_epoch() const { return steps_for(epoch_batches_); }
  std::uint64_t total_steps() const { return total_steps_; }  ///< Of the whole run; 0 = unknown.

 private:
  // Rounded up: the last step of an epoch may have fewer batches.
  std::uint64_t steps_for(std::uint64_t batches) const;
  std::uint64_t steps_of_all_epochs() const;
  // How far the next piece may go.
  std::uint64_t steps_until_due() const;
  bool due(std::int64_t every_steps, std::int64_t every_epochs) const;

  RunSettings settings_;
  std::uint64_t epoch_batches_;
  std::uint64_t step_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint64_t batch_ = 0;  ///< Within the epoch.
  std::uint64_t trained_epoch_ = 0;
  std::uint64_t total_steps_ = 0;
  bool moved_ = false;  ///< A piece was trained.
};

}  // namespace trainyard::manager
