#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "messages/reduction.h"
#include "messages/scalar.h"

namespace trainyard {

/// Numbers about the run, for loggers and viewers. Sent on "/metrics" by the accelerator host, every so many steps and
/// after evaluations, and by whoever else has something to say; nothing in the run waits for them. In a run of several
/// ranks the strategy manager sends them, merged out of their RankMetrics.
///
/// `samples` and `units` are totals, so a rate is a difference of two messages and survives a lost one.
struct Metrics {
  static constexpr const char* kTypeName = "Metrics";

  std::uint64_t step = 0;
  std::uint64_t total_steps = 0;  ///< 0 = unknown.
  std::uint64_t epoch = 0;
  std::string stage;          ///< "train", "train_eval" (training data, evaluated), "validate", "test", ...
  std::int64_t time_ns = 0;   ///< CLOCK_REALTIME.
  std::uint64_t samples = 0;  ///< Trained on since the run began.
  std::string unit;           ///< "sample", "token".
  std::uint64_t units = 0;    ///< Of `unit`, trained on since the run began.
  std::vector<Scalar> values;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(step), CEREAL_NVP(total_steps), CEREAL_NVP(epoch), CEREAL_NVP(stage), CEREAL_NVP(time_ns),
            CEREAL_NVP(samples), CEREAL_NVP(unit), CEREAL_NVP(units), CEREAL_NVP(values));
  }
};

/// What one rank of several has to say; sent on "/rank_metrics" instead of Metrics. The strategy manager merges what
/// ranks say about the same stage and step, whichever ranks say something: nobody waits for anybody.
///
/// `samples` and `units` of `metrics` are this rank's alone: they are added up.
struct RankMetrics {
  static constexpr const char* kTypeName = "RankMetrics";

  std::uint32_t rank = 0;
  double weight = 0;  ///< Of the values in a mean: the samples that they are about. 0 = none.
  Metrics metrics;
  // By name, of the values that are merged otherwise than to a mean: "sum", "max" or "min".
  Reductions reductions;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(weight), CEREAL_NVP(metrics), CEREAL_NVP(reductions));
  }
};

}  // namespace trainyard
