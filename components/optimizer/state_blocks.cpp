// SPDX-License-Identifier: Apache-2.0
#include "components/optimizer/state_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/memory/shared_imports.h"
#include "core/memory/shared_pool.h"
#include "core/rendezvous/rendezvous.h"
#include "devices/update.h"
#include "messages/error.h"

namespace trainyard::optimizer {
namespace {

/// How long to wait for the memory of rank 0, which builds its model at the same time as the other ranks.
constexpr std::chrono::seconds kRankZero{60};

/// Writes `value` to the elements of `block` that belong to parameters, but not to the padding between them. `block`
/// has the same layout as the rank's part of the parameters, but may have a wider type.
template <class T>
void fill_entries(const Tensor& block, const ArenaInfo& arena, const Part& part, double value) {
  for (const ArenaEntry& entry : arena.entries) {
    if (entry.block != "parameters") continue;
    const std::uint64_t begin = entry.offset_bytes / size_of(static_cast<DType>(entry.dtype));
    const std::uint64_t end = begin + checked_bytes(block.dtype, entry.shape) / sizeof(T);
    const std::uint64_t first = std::max(begin, part.begin);
    const std::uint64_t last = std::min(end, part.begin + part.count);
    if (first >= last) continue;
    std::fill_n(reinterpret_cast<T*>(block.data()) + (first - part.begin), last - first, static_cast<T>(value));
  }
}

Tensor empty_state(const ArenaInfo& arena) {
  const Tensor& parameters = block_of(arena, "parameters");
  return {devices::state_type_of(parameters.dtype), parameters.shape, 0, {}};
}

Tensor new_state(const std::string& name, const ArenaInfo& arena, double initial_sum, const PluginContext& context) {
  Tensor block = empty_state(arena);
  block.buffer = context.pool->allocate_permanent(block.bytes());
  if (name == "sum" && initial_sum != 0) {
    if (block.dtype == DType::kFloat64) {
      fill_entries<double>(block, arena, part_of(arena), initial_sum);
    } else {
      fill_entries<float>(block, arena, part_of(arena), initial_sum);
    }
  }
  return block;
}

std::string note_of(std::size_t number) { return fmt::format("optimizer_state/{}", number); }

void offer(const Tensor& block, std::size_t number, core::Rendezvous& rendezvous) {
  const SharedHandle& handle = block.buffer.shared().value();
  rendezvous.put(note_of(number), {reinterpret_cast<const char*>(&handle), sizeof handle});
}

Tensor borrowed_state(const ArenaInfo& arena, std::size_t number, const PluginContext& context) {
  const std::string note = context.rendezvous->get(note_of(number), kRankZero);
  Tensor block = empty_state(arena);
  SharedHandle handle;
  if (note.size() == sizeof handle) std::memcpy(&handle, note.data(), sizeof handle);
  if (handle.bytes != block.bytes()) {
    throw Error(Code::kShapeMismatch, "{}: rank 0 shares {} bytes of optimizer state, rank {} needs {}", context.where,
                handle.bytes, arena.rank, block.bytes());
  }
  // The number of the process (0) does not matter, because uses of permanent memory are not counted.
  block.buffer = core::SharedImports(0).open(handle);
  return block;
}

}  // namespace

const Tensor& block_of(const ArenaInfo& arena, std::string_view name) {
  const auto found = std::ranges::find(arena.blocks, name, &ArenaBlock::name);
  if (found != arena.blocks.end()) return found->data;
  std::string known;
  for (const auto& block : arena.blocks) known += (known.empty() ? "" : ", ") + block.name;
  throw Error(Code::kNotFound, "the arena of rank {} has no block '{}'; it has: {}", arena.rank, name, known);
}

Part part_of(const ArenaInfo& arena) {
  const Tensor& parameters = block_of(arena, "parameters");
  // If the rank has all parameters, the message contains 0 in `parameter_bytes`.
  const std::uint64_t whole = arena.parameter_bytes == 0 ? parameters.bytes() : arena.parameter_bytes;
  const std::uint64_t width = size_of(parameters.dtype);
  if (arena.shard_begin > whole || parameters.bytes() > whole - arena.shard_begin || arena.shard_begin % width != 0 ||
      whole % width != 0) {
    throw Error(Code::kShapeMismatch,
                "rank {} has {} bytes of {} parameters from byte {} on; its part must consist of whole elements and "
                "lie within {} bytes",
                arena.rank, parameters.bytes(), name_of(parameters.dtype), arena.shard_begin, whole);
  }
  return {arena.shard_begin / width, static_cast<std::uint64_t>(parameters.elements()), whole / width};
}

std::vector<Tensor> state_blocks(const std::vector<std::string>& names, const ArenaInfo& arena, double initial_sum,
                                 const PluginContext& context) {
  std::vector<Tensor> blocks;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool borrows = arena.shared_state && context.rank != 0;
    blocks.push_back(borrows ? borrowed_state(arena, i, context) : new_state(names[i], arena, initial_sum, context));
    if (arena.shared_state && context.rank == 0) offer(blocks.back(), i, *context.rendezvous);
  }
  return blocks;
}

}  // namespace trainyard::optimizer
