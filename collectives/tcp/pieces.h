// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace trainyard::tcp {

/// The elements [begin, end) of an operation's data.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  bool empty() const { return begin >= end; }
  std::uint64_t count() const { return empty() ? 0 : end - begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// Goes through a range of elements in pieces, in ascending order. Piece n consists of the elements of the range that
/// lie in [n * size, (n + 1) * size). The pieces are thus numbered from element 0 of the data and not from the
/// beginning of the range, so a piece number means the same in all ranges of an operation.
class Pieces {
 public:
  Pieces(const Range& range, std::uint64_t size)
      : range_(range),
        size_(size),
        first_(range.begin / size),
        next_(first_),
        end_(range.empty() ? first_ : (range.end - 1) / size + 1) {}

  bool done() const { return next_ == end_; }
  /// Returns the number of the next piece.
  std::uint64_t next() const { return next_; }
  /// Returns the elements of the next piece.
  Range next_range() const {
    return {std::max(range_.begin, next_ * size_), std::min(range_.end, (next_ + 1) * size_)};
  }
  /// Advances to the next piece.
  void step() { ++next_; }
  /// Returns true if step() has passed all elements of the range that are in the pieces up to and including `number`,
  /// or if these pieces contain no elements of the range.
  bool has_passed(std::uint64_t number) const { return number < next_ || done() || number < first_; }

 private:
  Range range_;
  std::uint64_t size_;
  std::uint64_t first_;
  std::uint64_t next_;
  std::uint64_t end_;
};

}  // namespace trainyard::tcp
