// SPDX-License-Identifier: Apache-2.0
#include "recordings/stated_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "recordings/compression.h"
#include "recordings/limits.h"

namespace trainyard::recordings {

void StatedSummary::take(Opcode opcode, std::string_view content, std::uint64_t begin, const Contents& found,
                         const Find& find) {
  if (opcode == Opcode::kDataEnd) {
    data_end_ = begin;
    data_crc_ = parse_data_end(content).crc;
  } else if (opcode == Opcode::kStatistics) {
    statistics_ = parse_statistics(content);
    statistics_at_ = begin;
  } else if (opcode == Opcode::kChunkIndex) {
    check_chunk(parse_chunk_index(content), begin, found, find);
  } else if (opcode == Opcode::kFooter) {
    footer_ = parse_footer(content);
    footer_at_ = begin;
  }
}

void StatedSummary::check_chunk(const ChunkIndex& stated, std::uint64_t begin, const Contents& found,
                                const Find& find) {
  ++chunks_;
  const auto offset = [](const Chunk& chunk) { return chunk.index.offset; };
  const auto chunk = std::ranges::lower_bound(found.chunks, stated.offset, {}, offset);
  if (chunk == found.chunks.end() || chunk->index.offset != stated.offset) {
    find(begin, fmt::format("the index names a chunk at byte {}, where none could be read", stated.offset));
  } else if (chunk->index != stated) {
    find(begin, fmt::format("the index describes the chunk at byte {} wrongly", stated.offset));
  }
}

void StatedSummary::check(const InputFile& file, const Contents& found, const Find& find) const {
  const auto in_chunk_records = std::ranges::count_if(found.chunks, [](const Chunk& chunk) { return !chunk.bare; });
  const auto chunks = static_cast<std::uint64_t>(in_chunk_records);
  if (footer_->summary_start != 0 && chunks_ != chunks) {
    find(footer_at_, fmt::format("the index names {} chunk(s); the file contains {}", chunks_, chunks));
  }
  check_statistics(found, find);
  check_data_crc(file, find);
  check_summary_crc(file, find);
}

void StatedSummary::check_statistics(const Contents& found, const Find& find) const {
  if (!statistics_) return;
  Statistics counted = found.statistics;
  if (statistics_->channel_messages.empty()) counted.channel_messages.clear();  // These counts are optional.
  if (*statistics_ != counted) find(statistics_at_, "the statistics do not fit the content");
}

void StatedSummary::check_data_crc(const InputFile& file, const Find& find) const {
  constexpr std::uint64_t kPiece = 1 << 20;
  if (!data_end_ || data_crc_ == 0) return;
  std::uint32_t crc = 0;
  for (std::uint64_t at = 0; at < *data_end_; at += kPiece) {
    crc = crc32_of(file.read(at, std::min(kPiece, *data_end_ - at)), crc);
  }
  if (crc != data_crc_) find(*data_end_, "the checksum of the data is wrong");
}

void StatedSummary::check_summary_crc(const InputFile& file, const Find& find) const {
  const std::uint64_t end = footer_at_ + kFooterBytes - sizeof footer_->summary_crc;
  if (footer_->summary_start == 0) return;
  if (footer_->summary_start > footer_at_) return find(footer_at_, "the summary begins behind its end");
  if (footer_->summary_crc == 0) return;
  if (end - footer_->summary_start > kMostDescriptionBytes) return find(footer_at_, "the summary is too large");
  if (crc32_of(file.read(footer_->summary_start, end - footer_->summary_start)) != footer_->summary_crc) {
    find(footer_at_, "the checksum of the summary is wrong");
  }
}

}  // namespace trainyard::recordings
