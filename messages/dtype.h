// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trainyard {

/// The element type of a tensor. The numbers are part of the wire format and never change; a new type gets the next
/// number. Only the code in tensors/ converts between these types and LibTorch's.
enum class DType : std::uint8_t {
  kUInt8 = 0,
  kInt8 = 1,
  kInt16 = 2,
  kInt32 = 3,
  kInt64 = 4,
  kFloat16 = 5,
  kBFloat16 = 6,
  kFloat32 = 7,
  kFloat64 = 8,
  kBool = 9,
};

/// Returns the size of one element in bytes; 0 for a value that is not a DType, which a malicious message can contain.
std::size_t size_of(DType dtype);

/// Returns the name used in schemas, JSON and error messages: "uint8", "float32", ... Returns "invalid" for a value
/// that is not a DType.
std::string_view name_of(DType dtype);

}  // namespace trainyard
