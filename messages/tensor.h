#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "messages/buffer.h"
#include "messages/dtype.h"

namespace trainyard {

/// A dense, row-major tensor: dtype, shape, and a place inside a refcounted buffer. Never holds the bytes itself, so a
/// message that carries a 40 MB tensor is as cheap to pass on as one that carries none.
///
/// A plain description: nothing here checks that it fits its buffer. One that came over the wire was checked when it
/// was read; who makes one by hand is responsible for it.
struct Tensor {
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::uint64_t offset = 0;  ///< Bytes from the start of `buffer` to the first element.
  Buffer buffer;

  /// Product of the shape; 1 for a scalar.
  std::int64_t elements() const;
  /// Bytes of the elements. Not checked for overflow: checked_bytes() is, and has been asked when the tensor was made.
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * size_of(dtype); }
  /// The first element; of no use without a buffer.
  std::byte* data() const { return buffer.data() + offset; }

  /// The elements as T, which the caller vouches for: it must have the width of `dtype`.
  template <class T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(data()), static_cast<std::size_t>(elements())};
  }

  /// A tensor over fresh, uninitialised heap memory; throws kCorrupt for a shape that cannot be (checked_bytes).
  static Tensor empty(DType dtype, std::vector<std::int64_t> shape);
};

/// Bytes that `shape` of `dtype` needs; throws kCorrupt for a negative extent, an unknown dtype or an overflow.
std::size_t checked_bytes(DType dtype, std::span<const std::int64_t> shape);

/// "[64, 784]"
std::string to_text(std::span<const std::int64_t> shape);

}  // namespace trainyard
