// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/rank_parts.h"

#include <algorithm>

#include "messages/error.h"

namespace trainyard {
namespace {

std::uint64_t parameter_bytes(const ArenaInfo& arena) {
  const Tensor* parameters = find_block(arena.blocks, kParameters);
  return parameters == nullptr ? 0 : parameters->bytes();
}

/// Returns the size of all parameters. If a rank has all parameters, its message contains 0 in `parameter_bytes`.
std::uint64_t whole_of(const ArenaInfo& arena) {
  return arena.parameter_bytes == 0 ? parameter_bytes(arena) : arena.parameter_bytes;
}

/// Throws if the ranks have different models. Compares only the numbers of bytes and of tensors: comparing all names
/// and positions would take long, and different models hardly ever agree in both numbers.
void check_same_model(const std::vector<RankState>& ranks) {
  const ArenaInfo& first = *ranks.front().arena;
  for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
    const ArenaInfo& arena = *ranks[rank].arena;
    if (whole_of(arena) == whole_of(first) && arena.entries.size() == first.entries.size()) continue;
    throw Error(Code::kShapeMismatch,
                "rank {} has a model of {} tensors and {} bytes of parameters, rank 0 one of {} and {}; all ranks must "
                "have the same",
                rank, arena.entries.size(), whole_of(arena), first.entries.size(), whole_of(first));
  }
}

/// Throws kShapeMismatch unless every part begins where the previous one ends and the last one ends at `whole`.
void check_consecutive(const std::vector<RankState>& ranks, std::uint64_t whole) {
  std::uint64_t end = 0;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const ArenaInfo& arena = *ranks[rank].arena;
    if (arena.shard_begin != end) {
      throw Error(Code::kShapeMismatch,
                  "the parameters of rank {} begin at byte {}, those before it end at byte {}; the ranks' parts must "
                  "follow each other without gap or overlap, or each be all {} bytes",
                  rank, arena.shard_begin, end, whole);
    }
    end += parameter_bytes(arena);
  }
  if (end == whole) return;
  throw Error(Code::kShapeMismatch, "the parameters of {} rank{} end at byte {}; together they must be {} bytes",
              ranks.size(), ranks.size() == 1 ? "" : "s", end, whole);
}

}  // namespace

const Tensor* find_block(const std::vector<ArenaBlock>& blocks, const std::string& name) {
  const auto found = std::ranges::find(blocks, name, &ArenaBlock::name);
  return found == blocks.end() ? nullptr : &found->data;
}

RankParts parts_of(const std::vector<RankState>& ranks) {
  check_same_model(ranks);
  RankParts parts{.whole = whole_of(*ranks.front().arena), .begins = {}, .replicated = true};
  const Tensor* parameters = find_block(ranks.front().arena->blocks, kParameters);
  if (parameters != nullptr) parts.element_bytes = size_of(parameters->dtype);
  for (const RankState& rank : ranks) {
    parts.begins.push_back(rank.arena->shard_begin);
    const bool all = rank.arena->shard_begin == 0 && parameter_bytes(*rank.arena) == parts.whole;
    parts.replicated = parts.replicated && all;
  }
  if (!parts.replicated) check_consecutive(ranks, parts.whole);
  return parts;
}

}  // namespace trainyard
