// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_relay/checkpoint_relay.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "checkpoints/durable_file.h"
#include "checkpoints/shared_file.h"
#include "core/compiler/ordered_elsewhere.h"
#include "messages/error.h"

namespace trainyard {
namespace {

/// Returns the names, types and shapes of the blocks.
std::vector<RemoteBlock> describe(const std::vector<ArenaBlock>& blocks) {
  std::vector<RemoteBlock> described;
  for (const ArenaBlock& block : blocks) {
    described.push_back({block.name, static_cast<std::uint8_t>(block.data.dtype), block.data.shape});
  }
  return described;
}

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

CheckpointRelay::CheckpointRelay(ComponentContext& context) : Component(context, kTraits) {}

// Forwards the announcements of the rank's memory without the blocks themselves, because over TCP the bytes of the
// blocks would be sent, too. Handles of device memory mean nothing on another host.
void CheckpointRelay::announce() {
  RemoteMemory memory;
  memory.arena_blocks = describe(arena_info_->blocks);
  memory.arena = *arena_info_;
  memory.arena.blocks.clear();
  memory.arena.shared.reset();
  if (optimizer_info_) {
    memory.has_optimizer = true;
    memory.optimizer_blocks = describe(optimizer_info_->blocks);
    memory.optimizer = *optimizer_info_;
    memory.optimizer.blocks.clear();
    memory.optimizer.device_blocks.clear();
  }
  memory_.send(std::move(memory));
}

const Tensor& CheckpointRelay::block(std::uint32_t index) const {
  const std::size_t in_arena = arena_info_ ? arena_info_->blocks.size() : 0;
  if (index < in_arena) return arena_info_->blocks[index].data;
  const std::size_t in_optimizer = optimizer_info_ ? optimizer_info_->blocks.size() : 0;
  if (index - in_arena < in_optimizer) return optimizer_info_->blocks[index - in_arena].data;
  throw Error(Code::kCorrupt, "{}: block {} was asked for; rank {} has {}", where(), index, context().rank,
              in_arena + in_optimizer);
}

void CheckpointRelay::on_copy(const CopyMemory& request) {
  kept_.clear();  // What nobody has asked to write belongs to a checkpoint that was given up.
  std::vector<std::pair<std::uint32_t, Buffer>> copied;
  for (const BlockPlace& place : request.blocks) {
    if (place.rank == context().rank) copied.emplace_back(place.block, copies_.copy(block(place.block)));
  }
  if (copied.empty()) return;
  // The answer is sent before the data, because training waits for it.
  copied_.send(MemoryCopied{.order = request.order, .rank = context().rank});
  if (request.keep) {
    kept_order_ = request.order;
    kept_ = {copied.begin(), copied.end()};
    return;
  }
  for (const auto& [index, copy] : copied) send_block(request.order, index, copy);
}

void CheckpointRelay::on_write(const WriteMemory& request) {
  const bool asked = std::ranges::any_of(
      request.ranges, [this](const MemoryRange& range) { return range.place.rank == context().rank; });
  if (!asked) return kept_.clear();
  MemoryWritten answer{.order = request.order, .rank = context().rank};
  try {
    answer.parts = write(request);
  } catch (const Error& error) {
    answer.error = error.what();  // This ends the checkpoint, not the run.
  }
  kept_.clear();
  written_.send(std::move(answer));
}

// The ranges of a file follow each other, and so do the files.
std::vector<WrittenPart> CheckpointRelay::write(const WriteMemory& request) const {
  std::vector<WrittenPart> parts;
  std::optional<checkpoints::SharedFile> file;
  const auto close = [&] {
    if (!file) return;
    const checkpoints::FileDigest digest = file->close();
    parts.back().bytes = digest.bytes;
    parts.back().sha256 = digest.sha256;
    file.reset();
  };
  for (const MemoryRange& range : request.ranges) {
    if (range.place.rank != context().rank) continue;
    const auto copy = kept_.find(range.place.block);
    const std::size_t size = copy == kept_.end() || request.order != kept_order_ ? 0 : copy->second.size();
    if (range.bytes > size || range.begin_bytes > size - range.bytes || range.file >= request.files.size() ||
        request.files[range.file].find('/') != std::string::npos) {
      throw Error(Code::kCorrupt, "{}: {} bytes at byte {} of block {} cannot be written; {} were copied", where(),
                  range.bytes, range.begin_bytes, range.place.block, size);
    }
    if (parts.empty() || parts.back().file != range.file) {
      close();
      parts.push_back({.file = range.file});
      file.emplace(request.folder + "/" + request.files[range.file]);
    }
    file->write(range.at, copy->second.bytes().subspan(range.begin_bytes, range.bytes));
  }
  close();
  return parts;
}

void CheckpointRelay::on_probe(const FolderProbe& probe) {
  FolderProbed answer{.rank = context().rank, .host = host_name()};
  try {
    const checkpoints::InputFile file(probe.path);
    std::string text(probe.text.size(), '\0');
    if (file.size() == text.size()) file.read(0, std::as_writable_bytes(std::span(text)));
    if (text != probe.text) throw Error(Code::kCorrupt, "{} has another content there", probe.path);
    checkpoints::DurableFile copy(fmt::format("{}-{}", probe.path, context().rank));
    copy.write(probe.text);
    copy.close();
  } catch (const Error& error) {
    answer.error = error.what();
  }
  probed_.send(std::move(answer));
}

void CheckpointRelay::send_block(std::uint64_t order, std::uint32_t index, const Buffer& copy) {
  for (std::size_t begin = 0; begin < copy.size(); begin += checkpoint_relay::kPieceBytes) {
    const std::size_t end = std::min(copy.size(), begin + checkpoint_relay::kPieceBytes);
    parts_.send(MemoryPart{.order = order,
                           .place = {context().rank, index},
                           .begin_bytes = begin,
                           .data = checkpoint_relay::piece_of(copy, begin, end)});
  }
}

void CheckpointRelay::on_restored(const RestoredMemory& piece) {
  const std::size_t bytes = piece.data.bytes();
  for (const BlockPlace& place : piece.places) {
    if (place.rank != context().rank || bytes == 0) continue;
    const Tensor& memory = block(place.block);
    if (bytes > memory.bytes() || piece.begin_bytes > memory.bytes() - bytes) {
      throw Error(Code::kCorrupt, "{}: {} bytes at byte {} do not fit block {}, which has {} bytes", where(), bytes,
                  piece.begin_bytes, place.block, memory.bytes());
    }
    // The rank begins to train only when the checkpoint writer has been told that everything is restored.
    const core::OrderedElsewhere ordered;
    std::memcpy(memory.data() + piece.begin_bytes, piece.data.data(), bytes);
  }
  if (piece.last) done_.send(MemoryRestored{.rank = context().rank});
}

}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::CheckpointRelay, "checkpoint_relay",
                    "Carries the memory of a rank to and from a checkpoint writer on another host")
