// SPDX-License-Identifier: Apache-2.0
#include "collectives/tcp/chain.h"

#include <algorithm>

namespace trainyard::tcp {
namespace {

using collectives::Effort;
using collectives::Operation;
using collectives::OperationKind;
using collectives::Progress;
using streams::Position;
using Arrival = streams::RecordStream::Arrival;

/// The smallest piece in bytes. With smaller pieces, system calls would take more time than the transfer itself.
constexpr std::uint64_t kLeastPiece = 16 << 10;
/// The number of pieces per member that keeps all connections busy.
constexpr std::uint64_t kPiecesPerMember = 4;

std::size_t widest(const Operation& operation, const Combination& combination) {
  const std::size_t own = size_of(operation.data.dtype);
  return operation.reduces() ? std::max(own, size_of(combination.partial_type())) : own;
}

}  // namespace

Flows flows_of(const Operation& operation, std::uint32_t own, std::uint32_t size) {
  const std::vector<std::uint64_t>& bounds = operation.bounds;
  const std::uint64_t count = operation.data.count;
  // The elements that travel between member `lower` and the next one.
  const auto up = [&](std::uint32_t lower) {
    return operation.reduces() ? Range{0, count} : Range{0, bounds[lower + 1]};
  };
  const auto down = [&](std::uint32_t lower) {
    switch (operation.request.kind) {
      case OperationKind::kAllReduce:
        return Range{0, count};
      case OperationKind::kReduceScatter:
        return Range{0, bounds[lower + 1]};
      default:
        return Range{bounds[lower + 1], count};
    }
  };
  Flows flows;
  if (own > 0) flows.up_in = up(own - 1), flows.down_out = down(own - 1);
  if (own + 1 < size) flows.up_out = up(own), flows.down_in = down(own);
  return flows;
}

std::uint64_t piece_elements(const Operation& operation, std::size_t element_bytes, std::uint32_t members,
                             std::size_t record_bytes) {
  const std::uint64_t wanted = operation.data.count * element_bytes / (kPiecesPerMember * members);
  const std::uint64_t least = std::min<std::uint64_t>(kLeastPiece, record_bytes);
  return std::clamp<std::uint64_t>(wanted, least, record_bytes) / element_bytes;
}

Chain::Chain(Links& links, Workspace& workspace, const Operation& operation, std::size_t record_bytes)
    : Chain(links, workspace, operation, flows_of(operation, links.own(), links.size()),
            piece_elements(operation,
                           widest(operation, Combination(operation.request.op, operation.data.dtype, links.size())),
                           links.size(), record_bytes)) {}

Chain::Chain(Links& links, Workspace& workspace, const Operation& operation, const Flows& flows, std::uint64_t size)
    : links_(links),
      workspace_(workspace),
      operation_(operation),
      combination_(operation.request.op, operation.data.dtype, links.size()),
      up_in_(flows.up_in, size),
      up_out_(flows.up_out, size),
      down_in_(flows.down_in, size),
      down_out_(flows.down_out, size) {}

Progress Chain::advance(Effort) {
  bool moved = false;
  for (bool moves = true; moves; moved |= moves) {
    moves = receive_up();
    moves |= send_up();
    moves |= receive_down();
    moves |= send_down();
  }
  bool sent = true;
  if (!is_first()) sent &= flush_all(links_, links_.own() - 1, moved);
  if (!is_last()) sent &= flush_all(links_, links_.own() + 1, moved);
  if (sent && up_in_.done() && up_out_.done() && down_in_.done() && down_out_.done()) return Progress::kFinished;
  return moved ? Progress::kSome : Progress::kNothing;
}

// The result of a piece is sent on immediately, while it is in the cache. If elements are converted, the only copy of
// the result is in Workspace::departing of the stream, so the next piece is received only when that memory is free
// again.
bool Chain::receive_up() {
  if (up_in_.done()) return false;
  const std::uint64_t piece = up_in_.next();
  const Range range = up_in_.next_range();
  const Position position{operation_.order, range.begin};
  streams::RecordStream& from = stream(links_.own() - 1, piece);
  if (!reduces()) {
    const Arrival arrival = from.receive(position, memory(range));
    if (arrival == Arrival::kComplete) up_in_.step();
    return arrival != Arrival::kNothing;
  }
  const bool converts = combination_.is_converted();
  if (converts && !is_last() && !stream(links_.own() + 1, piece).idle()) return false;
  const std::span arriving = std::span(workspace_.arriving).first(range.count() * size_of(combination_.partial_type()));
  const Arrival arrival = from.receive(position, arriving);
  if (arrival != Arrival::kComplete) return arrival != Arrival::kNothing;
  std::byte* own = memory(range).data();
  if (is_last()) {
    combination_.add_last(arriving.data(), own, own, range.count());
  } else {
    std::byte* to = converts ? workspace_.departing[piece % workspace_.departing.size()].data() : own;
    combination_.add(arriving.data(), own, to, range.count());
  }
  up_in_.step();
  return true;
}

bool Chain::send_up() {
  bool moved = false;
  while (!up_out_.done() && up_in_.has_passed(up_out_.next())) {
    const std::uint64_t piece = up_out_.next();
    const Range range = up_out_.next_range();
    streams::RecordStream& to = stream(links_.own() + 1, piece);
    if (!to.idle()) moved |= to.flush();
    if (!to.idle()) break;
    std::span<const std::byte> record = memory(range);
    if (reduces() && combination_.is_converted()) {
      std::vector<std::byte>& converted = workspace_.departing[piece % workspace_.departing.size()];
      if (is_first()) combination_.begin(record.data(), converted.data(), range.count());
      record = std::span(converted).first(range.count() * size_of(combination_.partial_type()));
    }
    to.send({operation_.order, range.begin}, record);
    up_out_.step();
    moved = true;
  }
  return moved;
}

bool Chain::receive_down() {
  if (down_in_.done()) return false;
  const Range range = down_in_.next_range();
  const Arrival arrival =
      stream(links_.own() + 1, down_in_.next()).receive({operation_.order, range.begin}, memory(range));
  if (arrival == Arrival::kComplete) down_in_.step();
  return arrival != Arrival::kNothing;
}

bool Chain::send_down() {
  const Pieces& before = reduces() && is_last() ? up_in_ : down_in_;
  bool moved = false;
  while (!down_out_.done() && before.has_passed(down_out_.next())) {
    const Range range = down_out_.next_range();
    streams::RecordStream& to = stream(links_.own() - 1, down_out_.next());
    if (!to.idle()) moved |= to.flush();
    if (!to.idle()) break;
    to.send({operation_.order, range.begin}, memory(range));
    down_out_.step();
    moved = true;
  }
  return moved;
}

std::optional<std::vector<std::uint32_t>> Chain::missing() const {
  std::vector<std::uint32_t> members;
  const bool waits_below = !up_in_.done() || (!is_first() && !all_sent(links_.own() - 1));
  const bool waits_above = !down_in_.done() || (!is_last() && !all_sent(links_.own() + 1));
  if (waits_below) members.push_back(links_.own() - 1);
  if (waits_above) members.push_back(links_.own() + 1);
  return members;
}

bool Chain::all_sent(std::uint32_t member) const {
  return std::ranges::all_of(links_.with(member).data, [](const auto& stream) { return stream->idle(); });
}

streams::RecordStream& Chain::stream(std::uint32_t member, std::uint64_t piece) const {
  const auto& streams = links_.with(member).data;
  return *streams[piece % streams.size()];
}

std::span<std::byte> Chain::memory(const Range& range) const {
  return {operation_.at(range.begin), range.count() * size_of(operation_.data.dtype)};
}

bool flush_all(Links& links, std::uint32_t member, bool& moved) {
  bool sent = true;
  for (const auto& stream : links.with(member).data) {
    if (!stream->idle()) moved |= stream->flush();
    sent &= stream->idle();
  }
  return sent;
}

}  // namespace trainyard::tcp
