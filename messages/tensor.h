// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "messages/buffer.h"
#include "messages/dtype.h"

namespace trainyard {

/// A dense, row-major tensor: a dtype, a shape, and an offset in a reference-counted buffer. A copy of the struct
/// refers to the same bytes, so the cost of passing on a message does not depend on the size of its tensors.
///
/// The struct does not check that the elements fit into the buffer. For tensors that are read from the wire,
/// BinaryReader has checked this; other code that makes a Tensor must ensure it.
struct Tensor {
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::uint64_t offset = 0;  ///< The distance in bytes from the start of `buffer` to the first element.
  Buffer buffer;

  /// Returns the number of elements: the product of all extents in `shape`, which is 1 for a scalar.
  std::int64_t elements() const;
  /// Returns the size of all elements together, in bytes. The multiplication is not checked for overflow, since
  /// checked_bytes() accepted the shape when the tensor was made.
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * size_of(dtype); }
  /// Returns the address of the first element. The tensor must have a buffer.
  std::byte* data() const { return buffer.data() + offset; }

  /// Returns a view of the elements as values of T. The tensor must have a buffer. The caller ensures that T has the
  /// same size as an element of `dtype`.
  template <class T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(data()), static_cast<std::size_t>(elements())};
  }

  /// Makes a tensor in new, uninitialised heap memory. Throws kCorrupt in the same cases as checked_bytes().
  static Tensor empty(DType dtype, std::vector<std::int64_t> shape);
};

/// Returns the number of bytes that a tensor of this dtype and shape needs. Throws kCorrupt for a negative extent, an
/// unknown dtype or an overflow.
std::size_t checked_bytes(DType dtype, std::span<const std::int64_t> shape);

/// Returns the shape as text, such as "[64, 784]".
std::string to_text(std::span<const std::int64_t> shape);

}  // namespace trainyard
