// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/order.h"
#include "messages/words.h"

namespace trainyard::manager {

/// Why a checkpoint is taken. In orders and file names it is a word.
enum class CheckpointReason : std::uint8_t {
  kInterval,     ///< It was due by checkpoint_every_steps or checkpoint_every_epochs.
  kValidation,   ///< It follows a validation that was not the best so far.
  kBest,         ///< It follows the best validation so far.
  kFinal,        ///< The training is done.
  kRequested,    ///< It was requested through the service `checkpoint`.
  kInterrupted,  ///< The run was stopped.
};
constexpr auto words_of(CheckpointReason) {
  return words("reason for a checkpoint", "interval", "validation", "best", "final", "requested", "interrupted");
}

/// What an evaluation is for. A planned one counts for early stopping and as a result, a requested one only as a
/// result, and a sanity check for neither.
enum class Purpose : std::uint8_t { kPlanned, kRequested, kSanity };

/// One entry of the run agenda: an order, and what the agenda has to know about it.
struct Task {
  Order order;
  bool waits = false;                                     ///< True if it waits for all open orders.
  Purpose purpose = Purpose::kPlanned;                    ///< The purpose, if the order is an evaluation.
  CheckpointReason reason = CheckpointReason::kInterval;  ///< The reason, if the order is a checkpoint.
};

}  // namespace trainyard::manager
