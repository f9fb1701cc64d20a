// SPDX-License-Identifier: Apache-2.0
// Writes the records. The fields are in the order of the specification.
#include "recordings/bytes.h"
#include "recordings/records.h"

namespace trainyard::recordings {
namespace {

/// Writes the length, in bytes, of everything that is appended while this object exists, in front of it. The length is
/// a 32-bit or 64-bit number.
template <class Length>
class Measured {
 public:
  explicit Measured(std::string& out) : out_(out), begin_(out.size()) { put(out, Length{0}); }
  ~Measured() {
    const auto length = static_cast<Length>(out_.size() - begin_ - sizeof(Length));
    std::memcpy(out_.data() + begin_, &length, sizeof length);
  }
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;

 private:
  std::string& out_;
  std::size_t begin_;
};

Measured<std::uint64_t> begin(std::string& out, Opcode opcode) {
  put(out, static_cast<std::uint8_t>(opcode));
  return Measured<std::uint64_t>(out);
}

void put_map(std::string& out, const TextMap& map) {
  const Measured<std::uint32_t> length(out);
  for (const auto& [key, value] : map) {
    put_text(out, key);
    put_text(out, value);
  }
}

void put_map(std::string& out, const std::map<std::uint16_t, std::uint64_t>& map) {
  const Measured<std::uint32_t> length(out);
  for (const auto& [key, value] : map) {
    put(out, key);
    put(out, value);
  }
}

}  // namespace

void append(std::string& out, const FileHeader& record) {
  const auto length = begin(out, Opcode::kHeader);
  put_text(out, record.profile);
  put_text(out, record.library);
}

void append(std::string& out, const SchemaRecord& record) {
  const auto length = begin(out, Opcode::kSchema);
  put(out, record.id);
  put_text(out, record.name);
  put_text(out, record.encoding);
  put_text(out, record.data);
}

void append(std::string& out, const ChannelRecord& record) {
  const auto length = begin(out, Opcode::kChannel);
  put(out, record.id);
  put(out, record.schema);
  put_text(out, record.topic);
  put_text(out, record.encoding);
  put_map(out, record.metadata);
}

void append(std::string& out, const MessageRecord& record) {
  const auto length = begin(out, Opcode::kMessage);
  put(out, record.channel);
  put(out, record.sequence);
  put(out, record.log_time);
  put(out, record.publish_time);
  out += record.data;
}

void append(std::string& out, const ChunkRecord& record) {
  const auto length = begin(out, Opcode::kChunk);
  put(out, record.start_time);
  put(out, record.end_time);
  put(out, record.size);
  put(out, record.crc);
  put_text(out, record.compression);
  put(out, static_cast<std::uint64_t>(record.records.size()));
  out += record.records;
}

void append(std::string& out, const MessageIndex& record) {
  const auto length = begin(out, Opcode::kMessageIndex);
  put(out, record.channel);
  const Measured<std::uint32_t> entries(out);
  for (const auto& [time, offset] : record.entries) {
    put(out, time);
    put(out, offset);
  }
}

void append(std::string& out, const ChunkIndex& record) {
  const auto length = begin(out, Opcode::kChunkIndex);
  put(out, record.start_time);
  put(out, record.end_time);
  put(out, record.offset);
  put(out, record.length);
  put_map(out, record.message_indexes);
  put(out, record.message_index_length);
  put_text(out, record.compression);
  put(out, record.compressed_size);
  put(out, record.size);
}

void append(std::string& out, const Statistics& record) {
  const auto length = begin(out, Opcode::kStatistics);
  put(out, record.messages);
  put(out, record.schemas);
  put(out, record.channels);
  put(out, record.attachments);
  put(out, record.metadata);
  put(out, record.chunks);
  put(out, record.start_time);
  put(out, record.end_time);
  put_map(out, record.channel_messages);
}

void append(std::string& out, const Metadata& record) {
  const auto length = begin(out, Opcode::kMetadata);
  put_text(out, record.name);
  put_map(out, record.values);
}

void append(std::string& out, const MetadataIndex& record) {
  const auto length = begin(out, Opcode::kMetadataIndex);
  put(out, record.offset);
  put(out, record.length);
  put_text(out, record.name);
}

void append(std::string& out, const SummaryOffset& record) {
  const auto length = begin(out, Opcode::kSummaryOffset);
  put(out, static_cast<std::uint8_t>(record.group));
  put(out, record.start);
  put(out, record.length);
}

void append(std::string& out, const DataEnd& record) {
  const auto length = begin(out, Opcode::kDataEnd);
  put(out, record.crc);
}

void append(std::string& out, const Footer& record) {
  const auto length = begin(out, Opcode::kFooter);
  put(out, record.summary_start);
  put(out, record.summary_offset_start);
  put(out, record.summary_crc);
}

}  // namespace trainyard::recordings
