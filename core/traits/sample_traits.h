// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <vector>

#include "messages/words.h"

namespace trainyard {

/// What is to be learned from a sample. It is known before the data is opened, so that a plan can be refused whose
/// model cannot learn from its dataset.
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

  std::vector<TargetKind> targets;  ///< The kinds that it can learn from; empty if it has not been declared.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(targets));
  }
};

}  // namespace trainyard
