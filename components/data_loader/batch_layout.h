// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "messages/dataset_info.h"
#include "messages/dtype.h"
#include "messages/tensor.h"

namespace trainyard {

/// Where the fields of a batch (such as inputs and targets) are in the batch's memory. The fields follow one another,
/// and each starts at a multiple of 64 bytes.
class BatchLayout {
 public:
  struct Field {
    DType dtype;
    std::vector<std::int64_t> shape;  ///< The shape of the field in one sample, without the batch dimension.
    std::size_t sample_bytes;
  };

  explicit BatchLayout(const std::vector<DatasetField>& fields) {
    for (const DatasetField& field : fields) {
      const auto dtype = static_cast<DType>(field.dtype);
      fields_.push_back({dtype, field.shape, checked_bytes(dtype, field.shape)});
    }
  }

  const std::vector<Field>& fields() const { return fields_; }

  /// Returns the number of bytes that field number `field` occupies in a batch of `rows` samples, including the padding
  /// after it.
  std::size_t field_bytes(std::size_t field, std::uint64_t rows) const {
    constexpr std::size_t kAlignment = 64;
    return (fields_[field].sample_bytes * rows + kAlignment - 1) / kAlignment * kAlignment;
  }

  /// Returns the number of bytes of a whole batch of `rows` samples.
  std::size_t bytes(std::uint64_t rows) const {
    std::size_t sum = 0;
    for (std::size_t field = 0; field < fields_.size(); ++field) sum += field_bytes(field, rows);
    return sum;
  }

 private:
  std::vector<Field> fields_;
};

}  // namespace trainyard
