// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/shared_checkpoint.h"

#include <algorithm>
#include <filesystem>

#include "checkpoints/durable_file.h"
#include "checkpoints/shared_file.h"
#include "messages/error.h"

namespace trainyard {
namespace {

/// How much of a file is read at once.
constexpr std::size_t kRead = std::size_t{4} << 20;

}  // namespace

void SharedCheckpoint::add_file(const std::string& name, const std::vector<checkpoints::SafetensorsTensor>& tensors,
                                const StateLayout& layout, const std::vector<StateSlice>& slices,
                                const std::map<std::string, std::string>& metadata) {
  File file{.name = name};
  const checkpoints::SafetensorsPlan plan = checkpoints::plan_safetensors(path_of(file), tensors, metadata);
  file.head = plan.head.size();
  file.bytes = plan.bytes;
  for (const std::size_t index : plan.order) {
    const std::uint64_t at = plan.begins[index];
    const std::span<const std::byte> data = tensors[index].data;
    std::size_t done = 0;  // The bytes of the tensor that are in `ranges` already.
    const auto add_near = [&](std::size_t end) {
      if (end > done)
        file.ranges.push_back({.at = at + done, .bytes = end - done, .near = data.subspan(done, end - done)});
      done = end;
    };
    if (index < slices.size()) {
      const StateSlice& slice = slices[index];
      for (const StatePiece& piece : layout.blocks[slice.block].pieces) {  // In the order of their offsets.
        const std::size_t begin = std::max(piece.offset, slice.offset);
        const std::size_t end = std::min(piece.offset + piece.data.bytes(), slice.offset + slice.bytes);
        if (!piece.is_remote() || begin >= end) continue;
        add_near(begin - slice.offset);
        file.ranges.push_back(
            {.at = at + done, .bytes = end - begin, .near = {}, .place = piece.place, .begin = begin - piece.offset});
        done = end - slice.offset;
      }
    }
    add_near(data.size());
  }
  checkpoints::create_shared_file(path_of(file), plan.head, plan.bytes);
  files_.push_back(std::move(file));
}

WriteMemory SharedCheckpoint::request(std::uint64_t order) const {
  // The working directory of a relay may be another one.
  WriteMemory request{.order = order, .folder = std::filesystem::absolute(temporary_.path()).string()};
  for (std::uint32_t index = 0; index < files_.size(); ++index) {
    request.files.push_back(files_[index].name);
    for (const Range& range : files_[index].ranges) {
      if (range.is_remote()) request.ranges.push_back({range.place, range.begin, range.bytes, index, range.at});
    }
  }
  return request;
}

std::set<std::uint32_t> SharedCheckpoint::ranks() const {
  std::set<std::uint32_t> ranks;
  for (const File& file : files_) {
    for (const Range& range : file.ranges) {
      if (range.is_remote()) ranks.insert(range.place.rank);
    }
  }
  return ranks;
}

void SharedCheckpoint::add(const MemoryWritten& answer) {
  for (const WrittenPart& part : answer.parts) parts_[{part.file, answer.rank}] = {part.bytes, part.sha256};
}

std::map<std::string, checkpoints::FileDigest> SharedCheckpoint::finish() {
  std::map<std::string, checkpoints::FileDigest> digests;
  for (const File& file : files_) write_near(file);
  for (std::uint32_t index = 0; index < files_.size(); ++index) digests[files_[index].name] = verify(index);
  return digests;
}

void SharedCheckpoint::write_near(const File& file) const {
  checkpoints::SharedFile out(path_of(file));
  for (const Range& range : file.ranges) {
    if (!range.is_remote()) out.write(range.at, range.near);
  }
  out.close();
}

// The file is opened again, so a network file system shows what the other hosts have written.
checkpoints::FileDigest SharedCheckpoint::verify(std::uint32_t index) const {
  const File& file = files_[index];
  const checkpoints::InputFile in(path_of(file));
  if (in.size() != file.bytes) {
    throw Error(Code::kCorrupt, "{} has {} bytes; {} were written", in.path(), in.size(), file.bytes);
  }
  struct Part {
    std::uint64_t bytes = 0;
    checkpoints::Sha256 hash;
  };
  std::map<std::uint32_t, Part> parts;  // By rank.
  checkpoints::Sha256 whole;
  std::vector<std::byte> buffer(kRead);
  const auto read = [&](std::uint64_t begin, std::uint64_t bytes, Part* part) {
    for (std::uint64_t done = 0; done < bytes;) {
      const std::span<std::byte> some = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), bytes - done));
      in.read(begin + done, some);
      whole.add(some);
      if (part != nullptr) part->hash.add(some);
      done += some.size();
    }
    if (part != nullptr) part->bytes += bytes;
  };
  read(0, file.head, nullptr);
  for (const Range& range : file.ranges)
    read(range.at, range.bytes, range.is_remote() ? &parts[range.place.rank] : nullptr);
  for (auto& [rank, part] : parts) {
    const auto written = parts_.find({index, rank});
    const checkpoints::FileDigest found{part.bytes, part.hash.finish()};
    if (written != parts_.end() && written->second == found) continue;
    throw Error(Code::kCorrupt, "{} does not have the {} bytes that the host of rank {} has written", in.path(),
                part.bytes, rank);
  }
  return {file.bytes, whole.finish()};
}

}  // namespace trainyard
