// SPDX-License-Identifier: Apache-2.0
#include "recordings/mcap_writer.h"

#include <algorithm>

#include "messages/error.h"

namespace trainyard::recordings {
namespace {

/// Returns the id for one more schema or channel if `present` of them exist. Ids are 16-bit numbers, and 0 is not a
/// valid id.
std::uint16_t next_id(std::size_t present, std::string_view what) {
  if (present >= 65535) throw Error(Code::kUnsupported, "a recording has at most 65535 {}", what);
  return static_cast<std::uint16_t>(present + 1);
}

/// Appends the records to `out`, and their position in the file to `offsets`. Appends nothing if there are no records.
template <class Records>
void append_group(std::string& out, std::string& offsets, std::uint64_t start, Opcode opcode, const Records& records) {
  const std::size_t begin = out.size();
  for (const auto& record : records) append(out, record);
  if (out.size() != begin) append(offsets, SummaryOffset{opcode, start + begin, out.size() - begin});
}

}  // namespace

McapWriter::McapWriter(std::string path, const FileHeader& header, Options options)
    : file_(std::move(path)), options_(options), compressor_(options.compression_level) {
  block_ = kMagic;
  append(block_, header);
  file_.append(block_);
}

// The file contains every schema and channel twice: in the chunk that is being filled when it is added, and in the
// summary.
std::uint16_t McapWriter::add(SchemaRecord schema) {
  schema.id = next_id(schemas_.size(), "schemas");
  append(chunk_, schema);
  schemas_.push_back(std::move(schema));
  return schemas_.back().id;
}

std::uint16_t McapWriter::add(ChannelRecord channel) {
  channel.id = next_id(channels_.size(), "channels");
  append(chunk_, channel);
  channels_.push_back(std::move(channel));
  chunk_index_.push_back({channels_.back().id, {}});
  return channels_.back().id;
}

void McapWriter::write(const MessageRecord& message) {
  if (chunk_messages_ == 0) begin_chunk();
  index_message(message);
  append(chunk_, message);
  if (chunk_.size() >= options_.chunk_bytes) flush();
}

void McapWriter::begin_chunk() {
  chunk_begun_ = Clock::now();
  chunk_times_ = {.start_time = ~std::uint64_t{0}};
}

void McapWriter::index_message(const MessageRecord& message) {
  chunk_index_.at(message.channel - 1u).entries.emplace_back(message.log_time, chunk_.size());
  chunk_times_.start_time = std::min(chunk_times_.start_time, message.log_time);
  chunk_times_.end_time = std::max(chunk_times_.end_time, message.log_time);
  statistics_.start_time =
      statistics_.messages == 0 ? message.log_time : std::min(statistics_.start_time, message.log_time);
  statistics_.end_time = std::max(statistics_.end_time, message.log_time);
  ++statistics_.channel_messages[message.channel];
  ++statistics_.messages;
  ++chunk_messages_;
}

void McapWriter::flush() {
  if (chunk_.empty()) return;
  if (chunk_messages_ == 0) chunk_times_ = {};
  ChunkRecord record = chunk_times_;
  record.size = chunk_.size();
  record.crc = crc32_of(chunk_);
  record.compression = "zstd";
  record.records = compressor_.compress(chunk_);
  block_.clear();
  append(block_, record);
  ChunkIndex index{.start_time = record.start_time,
                   .end_time = record.end_time,
                   .offset = file_.size(),
                   .length = block_.size(),
                   .compression = std::string(record.compression),
                   .compressed_size = record.records.size(),
                   .size = record.size};
  append_message_indexes(index);
  chunk_.clear();
  chunk_messages_ = 0;
  // The chunk and its index are written in one piece, so that the file contains both or neither.
  file_.append(block_);
  chunks_.push_back(std::move(index));
}

void McapWriter::append_message_indexes(ChunkIndex& chunk) {
  for (MessageIndex& index : chunk_index_) {
    if (index.entries.empty()) continue;
    chunk.message_indexes[index.channel] = chunk.offset + block_.size();
    append(block_, index);
    index.entries.clear();
  }
  chunk.message_index_length = block_.size() - chunk.length;
}

void McapWriter::write(const Metadata& metadata) {
  block_.clear();
  append(block_, metadata);
  metadata_.push_back({file_.size(), block_.size(), metadata.name});
  file_.append(block_);
}

void McapWriter::close() {
  flush();
  statistics_.schemas = static_cast<std::uint16_t>(schemas_.size());
  statistics_.channels = static_cast<std::uint32_t>(channels_.size());
  statistics_.metadata = static_cast<std::uint32_t>(metadata_.size());
  statistics_.chunks = static_cast<std::uint32_t>(chunks_.size());
  block_.clear();
  append(block_, DataEnd{file_.crc()});
  block_ += summary(file_.size() + block_.size());
  block_ += kMagic;
  file_.append(block_);
}

// Groups the records by kind, because readers may rely on this.
std::string McapWriter::summary(std::uint64_t start) const {
  std::string out, offsets;
  append_group(out, offsets, start, Opcode::kSchema, schemas_);
  append_group(out, offsets, start, Opcode::kChannel, channels_);
  append_group(out, offsets, start, Opcode::kStatistics, std::vector{statistics_});
  append_group(out, offsets, start, Opcode::kChunkIndex, chunks_);
  append_group(out, offsets, start, Opcode::kMetadataIndex, metadata_);
  Footer footer{.summary_start = start, .summary_offset_start = start + out.size()};
  out += offsets;
  // The checksum covers the summary and the footer up to the checksum itself.
  append(out, footer);
  out.resize(out.size() - sizeof footer.summary_crc);
  footer.summary_crc = crc32_of(out);
  out.append(reinterpret_cast<const char*>(&footer.summary_crc), sizeof footer.summary_crc);
  return out;
}

}  // namespace trainyard::recordings
