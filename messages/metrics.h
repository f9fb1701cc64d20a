#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "messages/scalar.h"

namespace trainyard {

/// Numbers about the run, for loggers and viewers. Sent on "/metrics" by the accelerator host, every so many steps and
/// after evaluations, and by whoever else has something to say; nothing in the run waits for them.
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

}  // namespace trainyard
