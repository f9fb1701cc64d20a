// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>

namespace trainyard {

/// The message that tells the optimizer that the gradients of one update are complete. They are in the arena, which is
/// memory that the optimizer shares with the accelerator host, the component that computes the gradients. If the
/// strategy reduces gradients over the ranks, it has already done so. Until the optimizer answers with Parameters, only
/// the optimizer may access these gradients. The optimizer sets them to zero after the update.
///
/// The message contains no gradients, because they are in shared memory. The accelerator host sends one message for
/// each update, and none for a step that is skipped or in which this rank has nothing to update.
struct Gradients {
  static constexpr const char* kTypeName = "Gradients";

  std::uint64_t step = 0;  ///< The number of the update that uses these gradients, counted from 1.
  /// The step of the run to which these gradients belong, for learning-rate schedules; 0 if it equals `step`. Ranks
  /// that update the same parameters one after another make several updates in one step of the run.
  std::uint64_t run_step = 0;
  /// The number of this message, counted from 0, among the `buckets` messages that announce the gradients of one
  /// update. At present there is always exactly one.
  std::uint32_t bucket = 0;
  std::uint32_t buckets = 1;
  /// The factor by which the optimizer must multiply the gradients. This factor clips the gradients by their norm and
  /// removes the loss scale.
  double scale = 1;
  /// The global L2 norm of the gradients, without the loss scale and before clipping; 0 if it was not computed.
  double norm = 0;
  std::uint64_t total_steps = 0;  ///< The value of Order::total_steps.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(step), CEREAL_NVP(run_step), CEREAL_NVP(bucket), CEREAL_NVP(buckets), CEREAL_NVP(scale),
            CEREAL_NVP(norm), CEREAL_NVP(total_steps));
  }
};

/// The optimizer's answer to Gradients: the parameters in the arena are now the result of `step` updates. The arena is
/// memory that the accelerator host and the optimizer share. The optimizer does not access the parameters again until
/// it receives the next Gradients. The checkpoint writer copies the parameters while the accelerator host waits for
/// SnapshotTaken. At the start, the optimizer sends this message with step 0 to announce that it is ready.
///
/// The accelerator host waits for this answer before the next forward pass.
struct Parameters {
  static constexpr const char* kTypeName = "Parameters";

  std::uint64_t step = 0;
  double learning_rate = 0;  ///< The learning rate used for this update; 0 for step 0.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(step), CEREAL_NVP(learning_rate));
  }
};

/// The message that tells the readers of a rank's arena that the arena contains the result of a step. A reader is a
/// component that has mapped the memory of the arena (ArenaInfo) and answers this message with ArenaRead. The next
/// update waits for the answers of all readers. If the model has buffers, the next forward pass waits, too.
struct ArenaReadable {
  static constexpr const char* kTypeName = "ArenaReadable";

  std::uint32_t rank = 0;
  std::uint64_t step = 0;  ///< The number of steps that the run has completed.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(step));
  }
};

/// A reader's answer to ArenaReadable, with the same rank and step: this reader no longer needs the parameters to stay
/// unchanged.
struct ArenaRead {
  static constexpr const char* kTypeName = "ArenaRead";

  std::uint32_t rank = 0;
  std::uint64_t step = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(step));
  }
};

}  // namespace trainyard
