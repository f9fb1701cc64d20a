// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"
#include "messages/dataset_info.h"
#include "transforms/transform.h"

namespace trainyard {

/// Which sample to read, and the values on which its random transforms depend.
struct SampleChoice {
  std::string_view split;
  std::uint64_t index = 0;
  std::uint64_t epoch = 0;
  bool random = false;  ///< True if random transforms draw random numbers, as in training; false for an evaluation.
};

/// Reads samples from a dataset and passes their fields through the transforms, in the order in which the transforms
/// were added.
///
/// The transformed sample depends only on the seed and the SampleChoice. Several threads may read at the same time,
/// each with its own Scratch. Only the first read with a Scratch allocates memory.
class SampleReader {
 public:
  /// `dataset` must be open and must outlive the reader. `seed` determines the random numbers of the transforms.
  SampleReader(const Dataset& dataset, std::uint64_t seed);

  /// Appends a transform. It is applied after the earlier transforms of the same field. Throws kInvalidArgument,
  /// suggesting a similar name, if the transform names a field that does not exist. If the transform cannot process its
  /// field, passes on the error that the transform throws.
  void add(std::unique_ptr<Transform> transform);

  /// Returns the description of the fields of a sample after all transforms.
  const std::vector<DatasetField>& fields() const { return fields_; }

  /// Memory for intermediate results. Each thread needs its own.
  struct Scratch {
    std::vector<std::byte> bytes;              ///< The inputs of all transforms, one after another.
    std::vector<std::span<std::byte>> fields;  ///< The memory into which the dataset writes each field.
  };

  /// Reads a sample and writes each of its transformed fields into one element of `fields`.
  void read(const SampleChoice& which, std::span<const std::span<std::byte>> fields, Scratch& scratch) const;

 private:
  struct Step {
    std::unique_ptr<Transform> transform;
    std::size_t field = 0;
    std::size_t input_offset = 0;  ///< The offset of the step's input in the scratch memory.
    std::size_t input_bytes = 0;
    /// The next transform of the same field; empty if the result is written into the batch.
    std::optional<std::size_t> next{};
  };

  std::size_t field_named(const Transform& transform) const;
  std::span<std::byte> input_of(const Step& step, Scratch& scratch) const {
    return std::span(scratch.bytes).subspan(step.input_offset, step.input_bytes);
  }

  const Dataset& dataset_;
  std::uint64_t key_;
  std::vector<DatasetField> fields_;
  std::vector<Step> steps_;
  /// For each field, the first step that transforms it; empty if there is none.
  std::vector<std::optional<std::size_t>> first_;
  std::size_t scratch_bytes_ = 0;
};

}  // namespace trainyard
