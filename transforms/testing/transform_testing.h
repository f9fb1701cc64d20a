// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "messages/dtype.h"
#include "messages/tensor.h"
#include "transforms/transform.h"

namespace trainyard::testing {

/// Constructs a transform of type T in the same way as the data loader does, and prepares it for a field "input" of the
/// given dtype and shape. `json` contains its parameters.
template <class T>
class Prepared {
 public:
  Prepared(const std::string& json, DType dtype, std::vector<std::int64_t> shape) {
    TransformContext context;
    context.where = "transform under test";
    context.parameters = json;
    transform_ = std::make_unique<T>(context);
    transform_->check_all_given_are_known();
    output_ = transform_->prepare({"input", static_cast<std::uint8_t>(dtype), std::move(shape)});
  }

  /// Returns the field that the transform produces.
  const DatasetField& output() const { return output_; }

  /// Applies the transform to `input` and returns the result. If `key` is given, the transform gets the random numbers
  /// of this key, as in training; otherwise it gets no random numbers, as in evaluation.
  template <class Out, class In>
  std::vector<Out> apply(const std::vector<In>& input, std::optional<std::uint64_t> key = std::nullopt) const {
    const Tensor out = Tensor::empty(static_cast<DType>(output_.dtype), output_.shape);
    TransformRandom random(key.value_or(0));
    transform_->apply(std::as_bytes(std::span(input)), out.buffer.bytes(), key ? &random : nullptr);
    return {out.as<Out>().begin(), out.as<Out>().end()};
  }

 private:
  std::unique_ptr<T> transform_;
  DatasetField output_;
};

/// Returns the numbers 0, 1, 2, ..., count - 1. In an image with these values, every element shows its original
/// position.
template <class Element>
std::vector<Element> counting(std::size_t count) {
  std::vector<Element> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<Element>(i);
  return values;
}

}  // namespace trainyard::testing
