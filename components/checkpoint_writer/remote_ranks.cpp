// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/remote_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "messages/error.h"

namespace trainyard {
namespace {

/// The largest piece of a block that is sent as one message, in bytes.
constexpr std::size_t kPieceBytes = 16 << 20;

std::vector<ArenaBlock> blocks_without_memory(const std::vector<RemoteBlock>& described) {
  std::vector<ArenaBlock> blocks;
  for (const RemoteBlock& block : described) {
    const auto dtype = static_cast<DType>(block.dtype);
    checked_bytes(dtype, block.shape);
    blocks.push_back({block.name, {.dtype = dtype, .shape = block.shape}});
  }
  return blocks;
}

std::set<std::uint32_t> ranks_in(const std::vector<BlockPlace>& places) {
  std::set<std::uint32_t> ranks;
  for (const BlockPlace& place : places) ranks.insert(place.rank);
  return ranks;
}

}  // namespace

RemoteAnnouncement announcement_of(const RemoteMemory& memory) {
  auto arena = std::make_shared<ArenaInfo>(memory.arena);
  arena->blocks = blocks_without_memory(memory.arena_blocks);
  if (!memory.has_optimizer) return {std::move(arena), nullptr};
  auto optimizer = std::make_shared<OptimizerState>(memory.optimizer);
  optimizer->blocks = blocks_without_memory(memory.optimizer_blocks);
  return {std::move(arena), std::move(optimizer)};
}

RemoteRanks::RemoteRanks(Component& owner, std::function<void(const RemoteMemory&)> announced)
    : copy_(owner, "copy_memory", "what relays copy for a checkpoint", {.topic = "/copy_memory"}),
      restored_(owner, "restored_memory", "values of the checkpoint that the run resumes, for other hosts",
                {.topic = "/restored_memory"}),
      memory_(owner, "remote_memory", "the memory of ranks on other hosts",
              [this, announced = std::move(announced)](const auto& message) {
                relays_.insert(message->arena.rank);
                announced(*message);
              },
              {.optional = true, .topic = "/remote_memory", .every_rank = true}),
      copied_(owner, "memory_copied", "relays have copied blocks", [this](const auto& message) { on_copied(*message); },
              {.optional = true, .topic = "/memory_copied", .every_rank = true}),
      parts_(owner, "memory_parts", "the blocks that relays have copied",
             [this](const auto& message) { on_part(*message); },
             {.optional = true, .topic = "/memory_parts", .every_rank = true}),
      answers_(owner, "memory_restored", "relays have restored blocks",
               [this](const auto& message) { on_restored(*message); },
               {.optional = true, .topic = "/memory_restored", .every_rank = true}),
      write_(owner, "write_memory", "where relays write what they have copied", {.topic = "/write_memory"}),
      written_(owner, "memory_written", "relays have written blocks",
               [this](const auto& message) { on_written(*message); },
               {.optional = true, .topic = "/memory_written", .every_rank = true}),
      probe_(owner, "folder_probe", "whether hosts share the folder of the checkpoints", {.topic = "/folder_probe"}),
      probed_(owner, "folder_probed", "whether relays can use the folder",
              [this](const auto& message) { on_probed(*message); },
              {.optional = true, .topic = "/folder_probed", .every_rank = true}) {}

void RemoteRanks::probe(const std::string& directory, Done done) {
  if (relays_.empty()) return done("");
  probe_file_.emplace(directory);
  waiting_for_ = relays_;
  on_probed_ = std::move(done);
  probe_.send(probe_file_->question());
}

void RemoteRanks::on_probed(const FolderProbed& answer) {
  if (!on_probed_ || waiting_for_.erase(answer.rank) == 0) return;
  const std::string problem = probe_file_->problem_with(answer);
  if (problem.empty() && !waiting_for_.empty()) return;
  probe_file_.reset();
  std::exchange(on_probed_, nullptr)(problem);
}

void RemoteRanks::copy(StateCopy& into, Then then, Done copied) {
  const Snapshot& snapshot = into.snapshot();
  CopyMemory request{.order = snapshot.order, .step = snapshot.step, .blocks = {}, .keep = then == Then::kKeep};
  missing_bytes_ = 0;
  for (const StateBlock& block : into.layout().blocks) {
    for (const StatePiece& piece : block.pieces) {
      if (!piece.is_remote()) continue;
      request.blocks.push_back(piece.place);
      if (then == Then::kSend) missing_bytes_ += piece.data.bytes();
    }
  }
  if (request.blocks.empty()) return copied("");
  order_ = snapshot.order;
  into_ = &into;
  waiting_for_ = ranks_in(request.blocks);
  on_copied_ = std::move(copied);
  copy_.send(std::move(request));
}

void RemoteRanks::on_copied(const MemoryCopied& answer) {
  if (!on_copied_ || answer.order != order_ || waiting_for_.erase(answer.rank) == 0 || !waiting_for_.empty()) return;
  std::exchange(on_copied_, nullptr)("");
}

void RemoteRanks::receive(Done complete) {
  on_complete_ = std::move(complete);
  report_if_complete();
}

void RemoteRanks::write(SharedCheckpoint& into, Done complete) {
  into_ = nullptr;
  shared_ = &into;
  waiting_for_ = into.ranks();
  on_complete_ = std::move(complete);
  write_.send(into.request(order_));
}

void RemoteRanks::on_written(const MemoryWritten& answer) {
  if (shared_ == nullptr || answer.order != order_ || waiting_for_.erase(answer.rank) == 0) return;
  if (!answer.error.empty()) {
    return give_up(fmt::format("the host of rank {} could not write its part: {}", answer.rank, answer.error));
  }
  shared_->add(answer);
  if (!waiting_for_.empty()) return;
  shared_ = nullptr;
  std::exchange(on_complete_, nullptr)("");
}

void RemoteRanks::on_part(const MemoryPart& part) {
  if (into_ == nullptr || part.order != order_) return;  // The bytes belong to a copy that was cancelled.
  const std::size_t bytes = part.data.bytes();
  into_->place(part.place, part.begin_bytes, {part.data.data(), bytes});
  missing_bytes_ -= std::min<std::uint64_t>(missing_bytes_, bytes);
  report_if_complete();
}

void RemoteRanks::report_if_complete() {
  if (missing_bytes_ != 0 || !on_complete_) return;
  into_ = nullptr;
  std::exchange(on_complete_, nullptr)("");
}

void RemoteRanks::give_up(const std::string& error) {
  into_ = nullptr;
  shared_ = nullptr;
  missing_bytes_ = 0;
  if (on_copied_) return std::exchange(on_copied_, nullptr)(error);
  if (on_complete_) std::exchange(on_complete_, nullptr)(error);
}

// Every relay receives all pieces and ignores those that its rank does not need. This is wasteful if the ranks have
// different parts, but a run resumes only once.
void RemoteRanks::restore(const StateLayout& layout, const StateLayout& here, const std::set<std::size_t>& filled,
                          std::function<void()> done) {
  std::vector<BlockPlace> all;
  for (const std::size_t i : filled) {
    const StateBlock& block = layout.blocks[i];
    for (std::size_t k = 0; k < block.pieces.size(); ++k) {
      std::vector<BlockPlace> places;
      if (block.pieces[k].is_remote()) places.push_back(block.pieces[k].place);
      for (const StatePiece& replica : block.replicas) {
        if (replica.is_remote()) places.push_back(replica.place);
      }
      if (places.empty()) continue;
      all.insert(all.end(), places.begin(), places.end());
      send_block(here.blocks[i].pieces[k], std::move(places));
    }
  }
  if (all.empty()) return done();
  waiting_for_ = ranks_in(all);
  on_restored_ = std::move(done);
  restored_.send(RestoredMemory{.places = {}, .data = {.dtype = DType::kUInt8, .shape = {0}}, .last = true});
}

void RemoteRanks::send_block(const StatePiece& piece, std::vector<BlockPlace> places) {
  const std::size_t bytes = piece.data.bytes();
  for (std::size_t begin = 0; begin < bytes; begin += kPieceBytes) {
    const std::size_t size = std::min(kPieceBytes, bytes - begin);
    Tensor data{.dtype = DType::kUInt8, .shape = {static_cast<std::int64_t>(size)}};
    data.buffer = Buffer(piece.data.buffer.owner(), piece.data.data() + begin, size);
    restored_.send(RestoredMemory{.places = places, .begin_bytes = begin, .data = std::move(data)});
  }
}

void RemoteRanks::on_restored(const MemoryRestored& answer) {
  waiting_for_.erase(answer.rank);
  if (on_restored_ && waiting_for_.empty()) std::exchange(on_restored_, nullptr)();
}

StateLayout with_memory_here(const StateLayout& layout) {
  StateLayout here = layout;
  for (StateBlock& block : here.blocks) {
    for (StatePiece& piece : block.pieces) {
      if (!piece.is_remote()) continue;
      piece.data = Tensor::empty(piece.data.dtype, piece.data.shape);
      // Files do not contain the padding between the tensors of a block, which must be zero.
      std::memset(piece.data.data(), 0, piece.data.bytes());
    }
    std::erase_if(block.replicas, [](const StatePiece& replica) { return replica.is_remote(); });
  }
  return here;
}

}  // namespace trainyard
