// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "collectives/tcp/combine.h"
#include "collectives/tcp/links.h"
#include "collectives/tcp/pieces.h"
#include "collectives/transport.h"

namespace trainyard::tcp {

/// The elements that one member sends to and receives from its two neighbours in an operation. "Up" is the direction
/// from each member to the next, and "down" the direction from each member to the previous one.
struct Flows {
  Range up_in;     ///< Received from the previous member.
  Range up_out;    ///< Sent to the next member.
  Range down_in;   ///< Received from the next member.
  Range down_out;  ///< Sent to the previous member.

  friend bool operator==(const Flows&, const Flows&) = default;
};

/// Returns which elements member `own` of a group of `size` members sends and receives. In a reduction, partial results
/// travel from each member to the next ("up"), and each member adds its elements to them; the final results travel back
/// ("down") to all members that need them. In any other operation, each part travels in both directions, away from the
/// member that has it.
Flows flows_of(const collectives::Operation& operation, std::uint32_t own, std::uint32_t size);

/// Memory that all operations use one after another, so that they need not allocate their own.
struct Workspace {
  std::vector<std::byte> arriving;                ///< The encrypted piece that is being received.
  std::vector<std::vector<std::byte>> departing;  ///< For each stream, the converted elements that are being sent.
};

/// Returns the number of elements of a piece, the unit in which data is encrypted and sent. A piece is at most
/// `record_bytes` bytes long, and small enough that several pieces can be on their way at the same time.
/// `element_bytes` is the size of an element or of a partial result, whichever is larger. All members compute the same
/// number.
std::uint64_t piece_elements(const collectives::Operation& operation, std::size_t element_bytes, std::uint32_t members,
                             std::size_t record_bytes);

/// A transfer in which data travels from each member to the next, from the first member to the last, and back. The data
/// is divided into pieces. Piece n uses stream n modulo the number of TCP streams between the two members, so the
/// streams share the work, and pieces need no header.
///
/// Each member decrypts, reduces and encrypts a piece while it is in the processor's cache. Elements are used only
/// after their authenticity has been checked.
class Chain final : public collectives::Transfer {
 public:
  Chain(Links& links, Workspace& workspace, const collectives::Operation& operation, std::size_t record_bytes);

  collectives::Progress advance(collectives::Effort) override;
  std::optional<std::vector<std::uint32_t>> missing() const override;

 private:
  Chain(Links& links, Workspace& workspace, const collectives::Operation& operation, const Flows& flows,
        std::uint64_t size);

  bool receive_up();
  bool send_up();
  bool receive_down();
  bool send_down();
  bool reduces() const { return operation_.reduces(); }
  bool is_first() const { return links_.own() == 0; }
  bool is_last() const { return links_.own() + 1 == links_.size(); }
  streams::RecordStream& stream(std::uint32_t member, std::uint64_t piece) const;
  std::span<std::byte> memory(const Range& range) const;
  bool all_sent(std::uint32_t member) const;

  Links& links_;
  Workspace& workspace_;
  const collectives::Operation& operation_;
  const Combination combination_;
  Pieces up_in_;
  Pieces up_out_;
  Pieces down_in_;
  Pieces down_out_;
};

/// Sends pending bulk data to `member`, without waiting. Returns true if nothing is left to send. Sets `moved` to true
/// if anything was sent, and otherwise leaves it unchanged.
bool flush_all(Links& links, std::uint32_t member, bool& moved);

}  // namespace trainyard::tcp
