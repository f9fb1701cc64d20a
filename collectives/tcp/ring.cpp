// SPDX-License-Identifier: Apache-2.0
#include "collectives/tcp/ring.h"

#include <algorithm>

namespace trainyard::tcp {
namespace {

using collectives::Effort;
using collectives::Operation;
using collectives::OperationKind;
using collectives::Progress;
using Arrival = streams::RecordStream::Arrival;

std::uint64_t divided_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

}  // namespace

Ring::Ring(Links& links, Workspace& workspace, const Operation& operation, std::size_t record_bytes)
    : links_(links),
      workspace_(workspace),
      operation_(operation),
      combination_(operation.request.op, operation.data.dtype, links.size()),
      chunk_(divided_up(operation.data.count, links.size())),
      piece_(piece_elements(operation, size_of(operation.data.dtype), links.size(), record_bytes)),
      pieces_(divided_up(chunk_, piece_)) {}

bool Ring::can(const Operation& operation, std::uint32_t members) {
  return operation.request.kind == OperationKind::kAllReduce &&
         !Combination(operation.request.op, operation.data.dtype, members).is_converted();
}

Progress Ring::advance(Effort) {
  bool moved = false;
  for (bool moves = true; moves; moved |= moves) {
    moves = receive();
    moves |= send();
  }
  const bool sent = flush_all(links_, next_member(), moved);
  if (sent && in_.round == rounds() && out_.round == rounds()) return Progress::kFinished;
  return moved ? Progress::kSome : Progress::kNothing;
}

bool Ring::receive() {
  if (in_.round == rounds()) return false;
  const Range range = incoming();
  if (!range.empty()) {
    const bool adds = in_.round + 1 < links_.size();
    const std::span to = adds ? std::span(workspace_.arriving).first(memory(range).size()) : memory(range);
    const std::uint64_t offset = std::uint64_t{in_.round} << 48 | in_.piece;
    const Arrival arrival = stream(previous_member(), in_).receive({operation_.order, offset}, to);
    if (arrival != Arrival::kComplete) return arrival != Arrival::kNothing;
    if (adds) take(range, to.data());
  }
  step(in_, range);
  return true;
}

// With two members, the value of member 0 is the left operand on both.
void Ring::take(const Range& range, const std::byte* arrived) {
  std::byte* own = memory(range).data();
  const auto first = links_.size() == 2 && links_.own() == 0 ? Combination::First::kOwn : Combination::First::kPartial;
  if (in_.round + 2 == links_.size()) {
    combination_.add_last(arrived, own, own, range.count(), first);
  } else {
    combination_.add(arrived, own, own, range.count(), first);
  }
}

// Each piece can be sent only after it was received in the previous round.
bool Ring::send() {
  bool moved = false;
  while (out_.round < rounds()) {
    if (out_.round > 0 && !(Place{out_.round - 1, out_.piece} < in_)) break;
    const Range range = outgoing();
    if (!range.empty()) {
      streams::RecordStream& to = stream(next_member(), out_);
      if (!to.idle()) moved |= to.flush();
      if (!to.idle()) break;
      to.send({operation_.order, std::uint64_t{out_.round} << 48 | out_.piece}, memory(range));
    }
    step(out_, range);
    moved = true;
  }
  return moved;
}

std::optional<std::vector<std::uint32_t>> Ring::missing() const {
  if (in_.round < rounds()) return {{previous_member()}};
  const auto& streams = links_.with(next_member()).data;
  const bool sent = std::ranges::all_of(streams, [](const auto& stream) { return stream->idle(); });
  return sent ? std::vector<std::uint32_t>{} : std::vector{next_member()};
}

Range Ring::range(std::uint32_t chunk, std::uint64_t piece) const {
  const std::uint64_t begin = chunk * chunk_ + piece * piece_;
  const std::uint64_t end = std::min((chunk + 1) * chunk_, chunk * chunk_ + (piece + 1) * piece_);
  return {std::min(begin, operation_.data.count), std::min(end, operation_.data.count)};
}

Range Ring::incoming() const {
  const std::uint32_t size = links_.size();
  return range((links_.own() + 2 * size - in_.round - 1) % size, in_.piece);
}

Range Ring::outgoing() const {
  const std::uint32_t size = links_.size();
  return range((links_.own() + 2 * size - out_.round) % size, out_.piece);
}

void Ring::step(Place& place, const Range& range) const {
  if (!range.empty()) ++place.number;
  if (++place.piece < pieces_) return;
  place.piece = 0;
  ++place.round;
}

streams::RecordStream& Ring::stream(std::uint32_t member, const Place& place) const {
  const auto& streams = links_.with(member).data;
  return *streams[place.number % streams.size()];
}

std::span<std::byte> Ring::memory(const Range& range) const {
  return {operation_.at(range.begin), range.count() * size_of(operation_.data.dtype)};
}

}  // namespace trainyard::tcp
