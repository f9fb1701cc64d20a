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

/// Which sample to read, and what chance in it depends on.
struct SampleChoice {
  std::string_view split;
  std::uint64_t index = 0;
  std::uint64_t epoch = 0;
  bool random = false;  ///< Random transforms draw; else they do what they do in evaluation.
};

/// Reads samples of a dataset and leads their fields through the transforms, in the order of the list.
///
/// What a sample becomes depends on the seed and the SampleChoice alone. Several threads read at once, each with a
/// scratch of its own, which is big enough from the start: reading allocates nothing of its own.
class SampleReader {
 public:
  /// `dataset` is open and outlives the reader.
  SampleReader(const Dataset& dataset, std::uint64_t seed);

  /// Appends a transform, which is prepared for what the ones before make of its field. Throws kInvalidArgument, with
  /// the nearest known name, for a field that there is not, and what the transform throws.
  void add(std::unique_ptr<Transform> transform);

  /// What a sample consists of in the end.
  const std::vector<DatasetField>& fields() const { return fields_; }

  /// What a thread needs between the dataset and the batch.
  struct Scratch {
    std::vector<std::byte> bytes;              ///< The inputs of all transforms, one behind another.
    std::vector<std::span<std::byte>> fields;  ///< Where the dataset writes.
  };

  /// Writes the sample into one span per field.
  void read(const SampleChoice& which, std::span<const std::span<std::byte>> fields, Scratch& scratch) const;

 private:
  struct Step {
    std::unique_ptr<Transform> transform;
    std::size_t field = 0;
    std::size_t input_offset = 0;  ///< In the scratch.
    std::size_t input_bytes = 0;
    std::optional<std::size_t> next{};  ///< The step that takes the result; none: it goes into the batch.
  };

  std::size_t field_named(const Transform& transform) const;
  std::span<std::byte> input_of(const Step& step, Scratch& scratch) const {
    return std::span(scratch.bytes).subspan(step.input_offset, step.input_bytes);
  }

  const Dataset& dataset_;
  std::uint64_t key_;
  std::vector<DatasetField> fields_;
  std::vector<Step> steps_;
  std::vector<std::optional<std::size_t>> first_;  ///< By field: the step that takes what the dataset writes.
  std::size_t scratch_bytes_ = 0;
};

}  // namespace trainyard
