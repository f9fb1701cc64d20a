#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>

namespace trainyard {

/// Hands the gradients of one step to the optimizer: they are in the arena and reduced. Only the optimizer touches them
/// until it answers with Parameters, and it leaves them zeroed.
///
/// The message carries no data: it hands over memory that both ends already see. It is on the path of every step.
struct Gradients {
  static constexpr const char* kTypeName = "Gradients";

  std::uint64_t step = 0;  ///< The number of the update that is to be made from these gradients, from 1.
  /// The step of the run that these gradients complete, for learning-rate schedules; 0 if it equals `step`. Ranks that
  /// update the same parameters one after another make several updates in one step of the run.
  std::uint64_t run_step = 0;
  /// Gradients may come in several buckets, so that an optimizer can begin before the last one. At present there is
  /// one.
  std::uint32_t bucket = 0;
  std::uint32_t buckets = 1;
  double scale = 1;  ///< The gradients are to be multiplied by this, which covers clipping by norm and loss scaling.
  double norm = 0;   ///< The global L2 norm before `scale`; 0 if it was not computed.
  std::uint64_t total_steps = 0;  ///< Order::total_steps.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(step), CEREAL_NVP(run_step), CEREAL_NVP(bucket), CEREAL_NVP(buckets), CEREAL_NVP(scale),
            CEREAL_NVP(norm), CEREAL_NVP(total_steps));
  }
};

/// Hands the parameters back: those in the arena are the result of `step` updates. Only the accelerator host touches
/// them until it sends the next Gradients. Step 0 says that the optimizer is ready.
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

}  // namespace trainyard
