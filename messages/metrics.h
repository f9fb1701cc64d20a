// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "messages/reduction.h"
#include "messages/scalar.h"
#include "messages/words.h"

namespace trainyard {

/// The direction in which a metric improves: towards smaller or towards larger values. The words for these directions
/// are "min" and "max".
enum class Better : std::uint8_t { kSmaller, kLarger };
constexpr auto words_of(Better) { return words("monitor mode", "min", "max"); }

/// Measurements of the run, for loggers and viewers. In a run with one rank, the accelerator host (the component that
/// computes losses and gradients) sends this message on "/metrics" at regular intervals and after evaluations. In a run
/// with several ranks, the strategy manager sends this message, merged from the RankMetrics of the ranks. Other
/// components can also send Metrics. No component waits for this message.
///
/// `samples` and `units` are totals since the start of training. A reader computes a rate from the difference between
/// two messages, so a lost message does no harm.
struct Metrics {
  static constexpr const char* kTypeName = "Metrics";

  std::uint64_t step = 0;
  std::uint64_t total_steps = 0;  ///< The number of steps of the whole run; 0 if it is unknown.
  std::uint64_t epoch = 0;
  std::string stage;         ///< "train", "train_eval" (an evaluation on training data), "validate", "test", ...
  std::int64_t time_ns = 0;  ///< When the message was sent, according to CLOCK_REALTIME.
  /// The number of samples that the run has trained on. In a resumed run, this includes the samples before the
  /// checkpoint.
  std::uint64_t samples = 0;
  std::string unit;         ///< What `units` counts: "sample" or "token".
  std::uint64_t units = 0;  ///< The number of units that the run has trained on.
  std::vector<Scalar> values;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(step), CEREAL_NVP(total_steps), CEREAL_NVP(epoch), CEREAL_NVP(stage), CEREAL_NVP(time_ns),
            CEREAL_NVP(samples), CEREAL_NVP(unit), CEREAL_NVP(units), CEREAL_NVP(values));
  }
};

/// The metrics of one of several ranks, sent on "/rank_metrics" instead of Metrics. The strategy manager merges the
/// messages that different ranks send for the same stage and step. It does not wait for a rank that has completed the
/// step without sending such a message.
///
/// In `metrics`, `samples` and `units` are the totals of this rank alone, and the strategy manager adds up the totals
/// of all ranks. If all ranks have the same samples, only the totals of rank 0 count them. In a resumed run, the totals
/// from before the checkpoint are included in the totals of rank 0.
struct RankMetrics {
  static constexpr const char* kTypeName = "RankMetrics";

  std::uint32_t rank = 0;
  /// The weight of this rank's values in a mean: the number of samples that the values were computed from.
  double weight = 0;
  Metrics metrics;
  /// The reductions of the values that are not merged by a mean. The keys are the names of the values.
  Reductions reductions;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(weight), CEREAL_NVP(metrics), CEREAL_NVP(reductions));
  }
};

}  // namespace trainyard
