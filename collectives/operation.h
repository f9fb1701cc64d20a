// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/elements.h"
#include "collectives/request.h"

namespace trainyard::collectives {

/// One call to a collective's function, such as all_reduce or send, with its arguments.
struct Operation {
  Request request;
  Elements data;
  /// The elements [bounds[m], bounds[m + 1]) are the part of member m. In a broadcast, all elements are the part of the
  /// root. In an all_reduce, the parts are those of Collective::equal_parts(). The list is empty for send and recv.
  std::vector<std::uint64_t> bounds;
  std::uint64_t number = 0;  ///< The number of the operation among all operations of its member, counted from 1.
  /// The number by which the members that take part identify the operation, counted from 1. For send and recv, it
  /// counts the messages from the sender to the receiver; otherwise it counts the collective operations of the group.
  std::uint64_t order = 0;

  std::byte* at(std::uint64_t element) const {
    return static_cast<std::byte*>(data.data) + element * size_of(data.dtype);
  }
  std::uint64_t bytes() const { return data.bytes(); }
  /// Returns the bytes of all elements.
  std::span<std::byte> whole() const { return {at(0), bytes()}; }
  /// Returns the bytes of a member's part.
  std::span<std::byte> part(std::uint32_t member) const {
    return {at(bounds[member]), (bounds[member + 1] - bounds[member]) * size_of(data.dtype)};
  }

  bool is_message() const { return collectives::is_message(request.kind); }
  /// Returns true if the elements of all members are combined; otherwise they are only copied.
  bool reduces() const {
    return request.kind == OperationKind::kAllReduce || request.kind == OperationKind::kReduceScatter;
  }
  /// Returns true if every member ends up with all parts, and false for a reduce_scatter, in which each member gets
  /// only its own part.
  bool gathers() const { return request.kind != OperationKind::kReduceScatter; }
  bool writes() const { return request.kind != OperationKind::kSend; }
  bool overlaps(const Operation& other) const {
    return at(0) < other.at(0) + other.bytes() && other.at(0) < at(0) + bytes();
  }
};

}  // namespace trainyard::collectives
