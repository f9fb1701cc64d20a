// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/order.h"
#include "messages/words.h"

namespace trainyard::manager {

/// The reason for a checkpoint. Orders and run.json contain its name.
enum class CheckpointReason : std::uint8_t {
  kInterval,     ///< It was due according to checkpoint_every_steps or checkpoint_every_epochs.
  kValidation,   ///< It follows a validation that was not the best so far.
  kBest,         ///< It follows the best validation so far.
  kFinal,        ///< The training is done.
  kRequested,    ///< A user requested the checkpoint with the service `checkpoint`.
  kInterrupted,  ///< The run was stopped.
};
constexpr auto words_of(CheckpointReason) {
  return words("reason for a checkpoint", "interval", "validation", "best", "final", "requested", "interrupted");
}

/// The purpose of an evaluation. A planned evaluation counts for early stopping and as a result of the run. A requested
/// evaluation counts only as a result, and a sanity check for neither.
enum class Purpose : std::uint8_t { kPlanned, kRequested, kSanity };

/// One entry of the run agenda: an order, and the facts about it that the agenda needs.
struct Task {
  Order order;
  bool waits = false;                                     ///< True if the task waits until no order is open.
  Purpose purpose = Purpose::kPlanned;                    ///< The purpose, if the order is an evaluation.
  CheckpointReason reason = CheckpointReason::kInterval;  ///< The reason, if the order is a checkpoint.
};

}  // namespace trainyard::manager
