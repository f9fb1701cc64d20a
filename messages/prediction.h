// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "messages/tensor.h"

namespace trainyard {

/// The output of a model for one batch of a predict order, or for a generate order: text to read, tensors for programs,
/// or both. Accelerator hosts (the components that compute on the devices) send it on "/predictions", for example to
/// the logger.
struct Prediction {
  static constexpr const char* kTypeName = "Prediction";

  /// The id of the predict or generate order that caused this message.
  std::uint64_t order = 0;
  std::uint64_t step = 0;
  /// A heading for `text`. The text can have many lines.
  std::string title;
  std::string text;
  std::vector<Tensor> tensors;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(step), CEREAL_NVP(title), CEREAL_NVP(text), CEREAL_NVP(tensors));
  }
};

}  // namespace trainyard
