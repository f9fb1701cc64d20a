#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>

namespace trainyard {

/// The gradients of `bucket` are in the arena and reduced; nobody but the optimizer touches them until it answers with
/// Parameters. The optimizer leaves them zeroed.
///
/// Carries no data: the message is the handing over of memory that both already see. On the step path of every step.
struct Gradients {
  static constexpr const char* kTypeName = "Gradients";

  std::uint64_t step = 0;  ///< The update that is to be made of these gradients, from 1.
  // The step of the run that they complete, for schedules; 0: the same. Ranks that update the same parameters one by
  // one make several updates in a step of the run.
  std::uint64_t run_step = 0;
  // Gradients may come in several buckets, so that an optimizer can begin before the last; at present there is one.
  std::uint32_t bucket = 0;
  std::uint32_t buckets = 1;
  double scale = 1;               ///< Multiply by this before use: clipping by norm, loss scaling.
  double norm = 0;                ///< Global L2 norm before `scale`; 0 = not computed.
  std::uint64_t total_steps = 0;  ///< From the Order.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(step), CEREAL_NVP(run_step), CEREAL_NVP(bucket), CEREAL_NVP(buckets), CEREAL_NVP(scale),
            CEREAL_NVP(norm), CEREAL_NVP(total_steps));
  }
};

/// The parameters in the arena are those after `step` updates, and nobody but the accelerator host touches them until
/// it sends the next Gradients. Step 0 says that the optimizer is ready.
///
/// The answer to Gradients; the host waits for it before the next forward pass.
struct Parameters {
  static constexpr const char* kTypeName = "Parameters";

  std::uint64_t step = 0;
  double learning_rate = 0;  ///< Used for this step.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(step), CEREAL_NVP(learning_rate));
  }
};

}  // namespace trainyard
