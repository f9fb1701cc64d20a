// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <vector>

#include "messages/words.h"

namespace trainyard {

/// What a model learns to predict for a sample. It is known before the data is opened, so that the planner can refuse a
/// model that cannot learn from the dataset.
enum class TargetKind : std::uint8_t {
  kUnknown,  ///< Only the data can tell.
  kClass,    ///< The number of one class.
  kNumbers,  ///< One or more real numbers.
  kTokens,   ///< The number of a token for each token of the input.
};
constexpr auto words_of(TargetKind) { return words("kind of target", "unknown", "class", "numbers", "tokens"); }

/// What the planner knows about a dataset.
struct DatasetTraits {
  static constexpr const char* kTypeName = "DatasetTraits";
  static constexpr const char* kPluginKind = "dataset";

  TargetKind target = TargetKind::kUnknown;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(target));
  }
};

/// What the planner knows about a model.
struct ModelTraits {
  static constexpr const char* kTypeName = "ModelTraits";
  static constexpr const char* kPluginKind = "model";

  std::vector<TargetKind> targets;  ///< The kinds of targets that it can learn; empty if they are not declared.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(targets));
  }
};

}  // namespace trainyard
