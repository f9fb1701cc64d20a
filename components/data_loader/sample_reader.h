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

/// The sample to read, and the values on which its random transforms depend.
struct SampleChoice {
  std::string_view split;
  std::uint64_t index = 0;
  std::uint64_t epoch = 0;
  bool random = false;  ///< True if random transforms draw random numbers; otherwise they behave as in an evaluation.
};

/// A reader of the samples of a dataset. It passes their fields through the transforms, in the order in which the
/// transforms were added.
///
/// The transformed sample depends only on the seed and the SampleChoice. Several threads may read concurrently, each
/// with its own scratch memory. The first read allocates this memory; later reads allocate nothing themselves.
class SampleReader {
 public:
  /// `dataset` must be open and must outlive the reader. Random transforms depend on `seed`.
  SampleReader(const Dataset& dataset, std::uint64_t seed);

  /// Appends a transform, which is prepared for the output of the earlier transforms of its field. Throws
  /// kInvalidArgument, with the nearest known name, if there is no such field. Exceptions of the transform are passed
  /// on.
  void add(std::unique_ptr<Transform> transform);

  /// Returns the description of the fields of a sample after all transforms.
  const std::vector<DatasetField>& fields() const { return fields_; }

  /// The memory that a thread uses between the dataset and the batch.
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
    std::size_t input_offset = 0;  ///< The offset in the scratch memory.
    std::size_t input_bytes = 0;
    std::optional<std::size_t>
        next{};  ///< The step that uses the result; empty if the result is written into the batch.
  };

  std::size_t field_named(const Transform& transform) const;
  std::span<std::byte> input_of(const Step& step, Scratch& scratch) const {
    return std::span(scratch.bytes).subspan(step.input_offset, step.input_bytes);
  }

  const Dataset& dataset_;
  std::uint64_t key_;
  std::vector<DatasetField> fields_;
  std::vector<Step> steps_;
  std::vector<std::optional<std::size_t>> first_;  ///< For each field, the step that uses the output of the dataset.
  std::size_t scratch_bytes_ = 0;
};

}  // namespace trainyard
