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

/// Says which of two values of a metric is better.
enum class Better : std::uint8_t { kSmaller, kLarger };
constexpr auto words_of(Better) { return words("monitor mode", "min", "max"); }

/// Measurements of the run, for loggers and viewers. The accelerator host sends them on "/metrics" at regular intervals
/// and after evaluations; in a run of several ranks the strategy manager sends them instead, merged from the
/// RankMetrics of the ranks. Any other component may send its own. No component waits for them.
///
/// `samples` and `units` are totals, so a rate is the difference of two messages, and a lost message does no harm.
struct Metrics {
  static constexpr const char* kTypeName = "Metrics";

  std::uint64_t step = 0;
  std::uint64_t total_steps = 0;  ///< 0 if unknown.
  std::uint64_t epoch = 0;
  std::string stage;          ///< "train", "train_eval" (an evaluation on training data), "validate", "test", ...
  std::int64_t time_ns = 0;   ///< When it was sent, by CLOCK_REALTIME.
  std::uint64_t samples = 0;  ///< The samples trained on since the run began.
  std::string unit;           ///< "sample" or "token".
  std::uint64_t units = 0;    ///< The number of `unit`s trained on since the run began.
  std::vector<Scalar> values;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(step), CEREAL_NVP(total_steps), CEREAL_NVP(epoch), CEREAL_NVP(stage), CEREAL_NVP(time_ns),
            CEREAL_NVP(samples), CEREAL_NVP(unit), CEREAL_NVP(units), CEREAL_NVP(values));
  }
};

/// The metrics of one of several ranks; it is sent on "/rank_metrics" instead of Metrics. The strategy manager merges
/// the reports for the same stage and step, and does not wait for missing ones.
///
/// `samples` and `units` in `metrics` are those of this rank alone; the manager adds them up.
struct RankMetrics {
  static constexpr const char* kTypeName = "RankMetrics";

  std::uint32_t rank = 0;
  /// The weight of the values in a mean: the number of samples that they were computed from.
  double weight = 0;
  Metrics metrics;
  /// The reductions of values that are not merged by a mean: "sum", "max" or "min", indexed by the name of the value.
  Reductions reductions;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(weight), CEREAL_NVP(metrics), CEREAL_NVP(reductions));
  }
};

}  // namespace trainyard
