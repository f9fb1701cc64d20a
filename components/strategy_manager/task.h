// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/order.h"
#include "messages/words.h"

namespace trainyard::manager {

/// The reason for saving a checkpoint. Its name is written into the checkpoint's file run.json.
enum class CheckpointReason : std::uint8_t {
  kInterval,     ///< Due because of checkpoint_every_steps or checkpoint_every_epochs.
  kValidation,   ///< Saved after a validation that was not better than all earlier ones.
  kBest,         ///< Saved after a validation that was better than all earlier ones.
  kFinal,        ///< Saved at the end of training.
  kRequested,    ///< Requested by a user with the service `checkpoint`.
  kInterrupted,  ///< Saved because the run was stopped.
};
constexpr auto words_of(CheckpointReason) {
  return words("reason for a checkpoint", "interval", "validation", "best", "final", "requested", "interrupted");
}

/// The purpose of an evaluation. The metrics of planned and requested evaluations are stored in checkpoints. Only
/// planned evaluations affect early stopping. A sanity check is a short evaluation before training, whose metrics are
/// ignored.
enum class Purpose : std::uint8_t { kPlanned, kRequested, kSanity };

/// An entry of RunAgenda: an order, and how the agenda handles it.
struct Task {
  Order order;
  bool waits = false;                   ///< True if the order must not be sent before all earlier orders are answered.
  Purpose purpose = Purpose::kPlanned;  ///< The purpose, if the order is an evaluation.
  CheckpointReason reason = CheckpointReason::kInterval;  ///< The reason, if the order saves a checkpoint.
};

}  // namespace trainyard::manager
