// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/tcp/chain.h"

namespace trainyard::tcp {

/// An all_reduce around a ring, in which every member has the same amount of work. The elements are divided into as
/// many chunks as there are members (n). In each of 2 * (n - 1) rounds, each member sends one chunk to the next member
/// and receives one from the previous member. In the first half of the rounds, it adds its own elements to the chunk
/// that it receives. After this half, each member has the complete sums of one chunk. In the second half, it only
/// stores the chunk that it receives. A chunk is sent in pieces, so that the rounds overlap.
///
/// The sum of each chunk begins with a different member, so the values are not added in the order of the ranks, and the
/// last bits of a sum can depend on the chunk. With two members, the values are added in the order of the ranks.
class Ring final : public collectives::Transfer {
 public:
  Ring(Links& links, Workspace& workspace, const collectives::Operation& operation, std::size_t record_bytes);

  /// Returns true if a ring with this number of members can carry out the operation: it must be an all_reduce whose
  /// elements are not converted to another type while they are reduced.
  static bool can(const collectives::Operation& operation, std::uint32_t members);

  collectives::Progress advance(collectives::Effort) override;
  std::optional<std::vector<std::uint32_t>> missing() const override;

 private:
  /// Identifies a piece of a round.
  struct Place {
    std::uint32_t round = 0;
    std::uint64_t piece = 0;  ///< The number of the piece within its chunk.
    /// The number of the piece among all pieces that are not empty. It determines the stream.
    std::uint64_t number = 0;
    friend bool operator<(const Place& a, const Place& b) {
      return a.round != b.round ? a.round < b.round : a.piece < b.piece;
    }
  };

  bool receive();
  bool send();
  std::uint32_t rounds() const { return 2 * (links_.size() - 1); }
  std::uint32_t next_member() const { return (links_.own() + 1) % links_.size(); }
  std::uint32_t previous_member() const { return (links_.own() + links_.size() - 1) % links_.size(); }
  Range range(std::uint32_t chunk, std::uint64_t piece) const;
  Range incoming() const;
  Range outgoing() const;
  void step(Place& place, const Range& range) const;
  streams::RecordStream& stream(std::uint32_t member, const Place& place) const;
  std::span<std::byte> memory(const Range& range) const;
  void take(const Range& range, const std::byte* arrived);

  Links& links_;
  Workspace& workspace_;
  const collectives::Operation& operation_;
  const Combination combination_;
  const std::uint64_t chunk_;   ///< The number of elements of a chunk. The last chunk may be smaller.
  const std::uint64_t piece_;   ///< The number of elements of a piece.
  const std::uint64_t pieces_;  ///< The number of pieces of a chunk.
  Place in_;
  Place out_;
};

}  // namespace trainyard::tcp
