#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "messages/tensor.h"

namespace trainyard {

/// What a model says when it is asked to predict: text for a person, tensors for a program, or both. It answers a
/// predict order and is sent on "/predictions" to the logger.
struct Prediction {
  static constexpr const char* kTypeName = "Prediction";

  /// The predict order that it answers, and the step at which training stood.
  std::uint64_t order = 0;
  std::uint64_t step = 0;
  /// A headline that says what the text is. `text` may have many lines.
  std::string title;
  std::string text;
  std::vector<Tensor> tensors;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(step), CEREAL_NVP(title), CEREAL_NVP(text), CEREAL_NVP(tensors));
  }
};

}  // namespace trainyard
