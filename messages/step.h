// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>

namespace trainyard {

/// Tells the optimizer that the gradients of one step are in the arena, already reduced over the ranks. Until the
/// optimizer answers with Parameters, only it may access them. It sets them to zero.
///
/// The message contains no gradients, because both components share the memory. It is sent in every step.
struct Gradients {
  static constexpr const char* kTypeName = "Gradients";

  std::uint64_t step = 0;  ///< The number of the update for which these gradients are used, counted from 1.
  /// The step of the run that these gradients complete, for learning-rate schedules; 0 if it equals `step`. Ranks that
  /// update the same parameters one after another make several updates in one step of the run.
  std::uint64_t run_step = 0;
  /// The index of the bucket. Gradients may be sent in several buckets, so that an optimizer can begin before the last
  /// one. At present there is only one.
  std::uint32_t bucket = 0;
  std::uint32_t buckets = 1;
  /// The factor by which the optimizer multiplies the gradients, for clipping by norm and for loss scaling.
  double scale = 1;
  double norm = 0;                ///< The global L2 norm before `scale`; 0 if it was not computed.
  std::uint64_t total_steps = 0;  ///< Order::total_steps.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(step), CEREAL_NVP(run_step), CEREAL_NVP(bucket), CEREAL_NVP(buckets), CEREAL_NVP(scale),
            CEREAL_NVP(norm), CEREAL_NVP(total_steps));
  }
};

/// Tells the accelerator host that the parameters in the arena are the result of `step` updates. Until the host sends
/// the next Gradients, only it may access them. Step 0 means that the optimizer is ready.
///
/// The host waits for this answer to Gradients before the next forward pass.
struct Parameters {
  static constexpr const char* kTypeName = "Parameters";

  std::uint64_t step = 0;
  double learning_rate = 0;  ///< The learning rate used for this step.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(step), CEREAL_NVP(learning_rate));
  }
};

/// Tells the readers of a rank's arena that it holds the result of a step. The next update, and with buffers the next
/// forward pass, waits until every reader has answered with ArenaRead. A reader may map the memory by ArenaInfo.
struct ArenaReadable {
  static constexpr const char* kTypeName = "ArenaReadable";

  std::uint32_t rank = 0;
  std::uint64_t step = 0;  ///< The steps done since the run began.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(step));
  }
};

/// A reader's answer to ArenaReadable, with the same values: it no longer reads, and the arena may change.
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
