// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <vector>

#include "messages/words.h"

namespace trainyard {

/// The kind of value that a model learns to predict for a sample. The kinds that the dataset and the model declare are
/// compared by the planner, which makes the plan of a run from a launch file. It refuses a model that cannot learn from
/// the dataset, before the data is opened.
enum class TargetKind : std::uint8_t {
  kUnknown,  ///< Not known until the data is read; every model is accepted.
  kClass,    ///< One class, given by its number.
  kNumbers,  ///< One or more real numbers.
  kTokens,   ///< One token, given by its number, for each token of the input.
};
constexpr auto words_of(TargetKind) { return words("kind of target", "unknown", "class", "numbers", "tokens"); }

/// The properties of a dataset that must be known when a launch file is checked, before the data is opened.
struct DatasetTraits {
  static constexpr const char* kTypeName = "DatasetTraits";
  static constexpr const char* kPluginKind = "dataset";

  TargetKind target = TargetKind::kUnknown;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(target));
  }
};

/// The properties of a model that must be known when a launch file is checked, before the model is built.
struct ModelTraits {
  static constexpr const char* kTypeName = "ModelTraits";
  static constexpr const char* kPluginKind = "model";

  /// The kinds of targets that the model can learn; if empty, all kinds are accepted.
  std::vector<TargetKind> targets;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(targets));
  }
};

}  // namespace trainyard
