// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <exception>
#include <string>

#include "messages/tensor.h"

namespace trainyard {

// Functions that make texts for the errors of models.

/// Returns the shape of the tensor as text, such as "[64, 784]".
inline std::string shape_of(const at::Tensor& tensor) {
  return to_text({tensor.sizes().data(), tensor.sizes().size()});
}

/// Returns the message of `error` without the list of C++ stack frames that LibTorch adds to its messages.
inline std::string without_frames(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find("\nException raised from"));
}

}  // namespace trainyard
