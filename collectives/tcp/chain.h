// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "collectives/tcp/combine.h"
#include "collectives/tcp/links.h"
#include "collectives/tcp/pieces.h"
#include "collectives/transport.h"

namespace trainyard::tcp {

/// What travels over the links of one member in an operation. "Up" is from each member to the next, and "down" is from
/// each member to the one before it.
struct Flows {
  Range up_in;     ///< From the member before this one.
  Range up_out;    ///< To the next member.
  Range down_in;   ///< From the next member.
  Range down_out;  ///< To the member before this one.

  friend bool operator==(const Flows&, const Flows&) = default;
};

/// Returns the flows of member `own` of `size` members. In a reduction, partial results travel up, and each member adds
/// its elements to them; the results travel down, to all members that need them. Otherwise each part travels from its
/// member in both directions.
Flows flows_of(const collectives::Operation& operation, std::uint32_t own, std::uint32_t size);

/// Memory for bulk transfers, which every operation uses anew.
struct Workspace {
  std::vector<std::byte> arriving;                ///< The record that is being received.
  std::vector<std::vector<std::byte>> departing;  ///< For each stream, the converted elements that are being sent.
};

/// Returns the number of elements of a piece: at most `record_bytes`, but small enough that several pieces are under
/// way at a time. All members compute the same number.
std::uint64_t piece_elements(const collectives::Operation& operation, std::size_t element_bytes, std::uint32_t members,
                             std::size_t record_bytes);

/// A transfer along the chain of the members. Piece n of each flow uses stream n modulo the number of streams of the
/// link, so that the streams share the work and nothing but the elements has to be sent.
///
/// A piece is opened, reduced and sealed while it is in the cache. Nothing that arrives is used before it was found to
/// be authentic.
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

/// Returns true if the kernel has taken all that was sent to `member`, after it has been offered the rest.
bool flush_all(Links& links, std::uint32_t member, bool& moved);

}  // namespace trainyard::tcp
