// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "messages/batch.h"
#include "messages/saved_state.h"
#include "messages/scalar.h"
#include "messages/setting.h"

namespace trainyard {

/// A rank's request to the checkpoint writer to copy the rank's parameters and buffers between two steps. The
/// accelerator host of the rank sends it. The parameters and buffers are in the arena, which is memory that the
/// accelerator host and the checkpoint writer share. The checkpoint writer makes the copy when it has received this
/// request from every rank. In a run without a checkpoint writer, the message is not sent.
///
/// After this message the accelerator host sends no further Gradients until it receives SnapshotTaken, so the optimizer
/// does not change the memory in the meantime. Gradients are not part of a checkpoint, so the accelerator host can
/// already compute the next gradients. Buffers are part of a checkpoint, so the accelerator host waits if the next
/// forward pass would change them.
struct Snapshot {
  static constexpr const char* kTypeName = "Snapshot";

  std::uint32_t rank = 0;
  /// The id of the checkpoint order. SnapshotTaken and CheckpointDone repeat it.
  std::uint64_t order = 0;
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;
  /// The number of samples that this rank has trained on since this run started or resumed. In a resumed run, the value
  /// of rank 0 also includes the samples that all ranks together had trained on before the checkpoint from which the
  /// run resumed.
  std::uint64_t samples = 0;
  std::string reason;
  /// The position at which a run that resumes from this checkpoint must continue: after the last batch that the
  /// parameters were trained on.
  LoaderCursor cursor;
  /// The number of steps that were skipped because a loss or gradient was not finite.
  std::uint64_t skipped_steps = 0;
  /// The newest validation metrics, taken from the order. These metrics determine which checkpoints are the best.
  std::vector<Scalar> metrics;
  /// The parameters of components that were changed during the run, taken from the order.
  std::vector<Setting> settings;
  /// The state of this rank, such as its random numbers, its loss scale and the state of its strategy. On rank 0 the
  /// list also includes Order::states, such as the state of early stopping.
  std::vector<SavedState> states;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(order), CEREAL_NVP(step), CEREAL_NVP(epoch), CEREAL_NVP(samples),
            CEREAL_NVP(reason), CEREAL_NVP(cursor), CEREAL_NVP(skipped_steps), CEREAL_NVP(metrics),
            CEREAL_NVP(settings), CEREAL_NVP(states));
  }
};

/// The checkpoint writer's answer to the Snapshot messages of all ranks: the copy has been made, so the ranks may
/// change their parameters and buffers again. The checkpoint is written to disk later, and CheckpointDone reports the
/// result.
struct SnapshotTaken {
  static constexpr const char* kTypeName = "SnapshotTaken";

  std::uint64_t order = 0;
  std::uint64_t step = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(step));
  }
};

/// The checkpoint writer's report that a checkpoint has been written to disk, or could not be written. The strategy
/// manager decides what a failure means for the run.
struct CheckpointDone {
  static constexpr const char* kTypeName = "CheckpointDone";

  std::uint64_t order = 0;
  std::uint64_t step = 0;
  /// The path of the checkpoint's directory; empty if the checkpoint was not written.
  std::string path;
  std::uint64_t bytes = 0;  ///< The size of all files of the checkpoint.
  std::string error;        ///< Why the checkpoint was not written; empty if it is complete and synced to disk.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(step), CEREAL_NVP(path), CEREAL_NVP(bytes), CEREAL_NVP(error));
  }
};

/// The starting point of the run: step 0, or the position stored in a checkpoint. The checkpoint writer sends this
/// message once. If the run resumes, the checkpoint writer first restores the parameters, the buffers and the
/// optimizer's state, and waits until every component has taken its part of RestoredStates. The accelerator host, the
/// optimizer and the strategy manager start counting from the values in this message. A run without a checkpoint writer
/// has no RunState and begins at step 0.
struct RunState {
  static constexpr const char* kTypeName = "RunState";

  bool resumed = false;
  /// The path of the checkpoint from which the run resumes; empty if the run does not resume. If the run resumes, the
  /// fields below have the values from run.json in this checkpoint. Otherwise they are 0 or empty.
  std::string path;
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;
  std::uint64_t samples = 0;  ///< The number of samples that all ranks together have trained on.
  LoaderCursor cursor;
  /// The number of batches used in the epoch, if the checkpoint has format 1, an old format that counts batches instead
  /// of samples; `cursor` then contains only the epoch. 0 for any other checkpoint.
  std::uint64_t cursor_batches = 0;
  std::uint64_t skipped_steps = 0;
  std::vector<Scalar> metrics;
  /// The parameters of components that were changed before the checkpoint was made; see Component::take_settings.
  std::vector<Setting> settings;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(resumed), CEREAL_NVP(path), CEREAL_NVP(step), CEREAL_NVP(epoch), CEREAL_NVP(samples),
            CEREAL_NVP(cursor), CEREAL_NVP(cursor_batches), CEREAL_NVP(skipped_steps), CEREAL_NVP(metrics),
            CEREAL_NVP(settings));
  }
};

}  // namespace trainyard
