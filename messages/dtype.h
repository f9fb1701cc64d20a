#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trainyard {

/// Element type of a tensor. The numbers are part of the wire format and never change; a new type gets the next one.
/// What LibTorch calls them is known in tensors/ alone.
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

/// Bytes of one element; 0 for a value that is no DType (it may have come from a hostile message).
std::size_t size_of(DType dtype);

/// The name used in schemas, JSON and error messages: "uint8", "float32", ...; "invalid" for no DType.
std::string_view name_of(DType dtype);

}  // namespace trainyard
