// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/order.h"
#include "messages/words.h"

namespace trainyard::manager {

/// The reason for a checkpoint. Orders and run.json contain its name.
enum class CheckpointReason : std::uint8_t {
  kInterval,     ///< The checkpoint was due by checkpoint_every_steps or checkpoint_every_epochs.
  kValidation,   ///< The checkpoint follows a validation that was not better than all earlier ones.
  kBest,         ///< The checkpoint follows a validation that was better than all earlier ones.
  kFinal,        ///< The training is done.
  kRequested,    ///< A user requested the checkpoint with the service `checkpoint`.
  kInterrupted,  ///< The run was stopped.
};
constexpr auto words_of(CheckpointReason) {
  return words("reason for a checkpoint", "interval", "validation", "best", "final", "requested", "interrupted");
}

/// The purpose of an evaluation. A planned evaluation counts for early stopping and as a result, a requested evaluation
/// counts only as a result, and a sanity check counts for neither.
enum class Purpose : std::uint8_t { kPlanned, kRequested, kSanity };

/// One entry of the run agenda: an order, and the facts that the agenda uses to plan it.
struct Task {
  Order order;
  bool waits = false;                                     ///< True if the task waits until no order is open.
  Purpose purpose = Purpose::kPlanned;                    ///< The purpose, if the order is an evaluation.
  CheckpointReason reason = CheckpointReason::kInterval;  ///< The reason, if the order is a checkpoint.
};

}  // namespace trainyard::manager
