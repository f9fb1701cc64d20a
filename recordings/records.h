// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainyard::recordings {

// The records of an MCAP file as its specification describes them (https://mcap.dev/spec). A record consists of an
// opcode (u8), the length of its content (u64) and its content. append() writes a whole record; a parse function reads
// the content of one, and throws kCorrupt if the content is malformed. Fields that a later version of the format has
// added at the end of a record are ignored.

/// The bytes with which every MCAP file begins and ends.
inline constexpr std::string_view kMagic{"\x89MCAP0\r\n", 8};
/// The size of the head of a record: its opcode (one byte) and the length of its content (eight bytes).
inline constexpr std::uint64_t kRecordHead = 9;

/// The kinds of records. Readers skip records of unknown kinds.
enum class Opcode : std::uint8_t {
  kHeader = 0x01,
  kFooter = 0x02,
  kSchema = 0x03,
  kChannel = 0x04,
  kMessage = 0x05,
  kChunk = 0x06,
  kMessageIndex = 0x07,
  kChunkIndex = 0x08,
  kAttachment = 0x09,
  kStatistics = 0x0b,
  kMetadata = 0x0c,
  kMetadataIndex = 0x0d,
  kSummaryOffset = 0x0e,
  kDataEnd = 0x0f,
};

using TextMap = std::map<std::string, std::string>;

/// The first record of a file.
struct FileHeader {
  std::string profile;
  std::string library;  ///< The name of the program that wrote the file.
};

/// The description of a message type.
struct SchemaRecord {
  std::uint16_t id = 0;  ///< Never 0.
  std::string name;
  std::string encoding;  ///< "jsonschema" in recordings of Trainyard.
  std::string data;

  friend bool operator==(const SchemaRecord&, const SchemaRecord&) = default;
};

/// A stream of messages of one type on one topic.
struct ChannelRecord {
  std::uint16_t id = 0;
  std::uint16_t schema = 0;  ///< The id of the schema, or 0 if there is none.
  std::string topic;
  std::string encoding;  ///< "json" in recordings of Trainyard.
  TextMap metadata;

  friend bool operator==(const ChannelRecord&, const ChannelRecord&) = default;
};

/// A message. `data` refers to the bytes from which the record was read.
struct MessageRecord {
  std::uint16_t channel = 0;
  std::uint32_t sequence = 0;
  std::uint64_t log_time = 0;      ///< When the message was recorded, in nanoseconds since 1970.
  std::uint64_t publish_time = 0;  ///< When the message was sent, in nanoseconds since 1970.
  std::string_view data;
};

/// A group of schema, channel and message records that are compressed together. `compression` and `records` refer to
/// the bytes from which the record was read.
struct ChunkRecord {
  std::uint64_t start_time = 0;  ///< The earliest log_time of the messages; 0 if there are none.
  std::uint64_t end_time = 0;    ///< The latest log_time.
  std::uint64_t size = 0;        ///< The size of the records when they are decompressed.
  std::uint32_t crc = 0;         ///< The CRC32 of the decompressed records, or 0 if it is not known.
  std::string_view compression;  ///< "zstd", or empty if the records are not compressed.
  std::string_view records;
};

/// The positions of one channel's messages in the chunk that precedes this record: pairs of the log_time and the offset
/// in the decompressed records.
struct MessageIndex {
  std::uint16_t channel = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> entries;
};

/// The position of a chunk in the file, and a description of its content.
struct ChunkIndex {
  std::uint64_t start_time = 0;
  std::uint64_t end_time = 0;
  std::uint64_t offset = 0;                                ///< Where the chunk record begins in the file.
  std::uint64_t length = 0;                                ///< The size of the whole chunk record.
  std::map<std::uint16_t, std::uint64_t> message_indexes;  ///< Where the MessageIndex of each channel begins.
  std::uint64_t message_index_length = 0;                  ///< The size of all MessageIndex records of the chunk.
  std::string compression;
  std::uint64_t compressed_size = 0;
  std::uint64_t size = 0;

  friend bool operator==(const ChunkIndex&, const ChunkIndex&) = default;
};

/// Statistics about the content of the file.
struct Statistics {
  std::uint64_t messages = 0;
  std::uint16_t schemas = 0;
  std::uint32_t channels = 0;
  std::uint32_t attachments = 0;
  std::uint32_t metadata = 0;
  std::uint32_t chunks = 0;
  std::uint64_t start_time = 0;
  std::uint64_t end_time = 0;
  std::map<std::uint16_t, std::uint64_t> channel_messages;

  friend bool operator==(const Statistics&, const Statistics&) = default;
};

/// A record of named texts that describe the recording.
struct Metadata {
  std::string name;
  TextMap values;

  friend bool operator==(const Metadata&, const Metadata&) = default;
};

/// The position of a metadata record in the file.
struct MetadataIndex {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::string name;
};

/// The position of all records of one kind in the summary.
struct SummaryOffset {
  Opcode group{};
  std::uint64_t start = 0;
  std::uint64_t length = 0;
};

/// The last record of the data section.
struct DataEnd {
  std::uint32_t crc = 0;  ///< The CRC32 of everything before this record, or 0 if it is not known.
};

/// The last record of the file.
struct Footer {
  std::uint64_t summary_start = 0;         ///< 0 if there is no summary.
  std::uint64_t summary_offset_start = 0;  ///< 0 if there are no SummaryOffset records.
  /// The CRC32 of the bytes from summary_start up to this field, or 0 if it is not known.
  std::uint32_t summary_crc = 0;
};
/// The size of a footer record. It never changes, so that readers can find the footer from the end of the file.
inline constexpr std::uint64_t kFooterBytes = kRecordHead + 8 + 8 + 4;

void append(std::string& out, const FileHeader& record);
void append(std::string& out, const SchemaRecord& record);
void append(std::string& out, const ChannelRecord& record);
void append(std::string& out, const MessageRecord& record);
void append(std::string& out, const ChunkRecord& record);
void append(std::string& out, const MessageIndex& record);
void append(std::string& out, const ChunkIndex& record);
void append(std::string& out, const Statistics& record);
void append(std::string& out, const Metadata& record);
void append(std::string& out, const MetadataIndex& record);
void append(std::string& out, const SummaryOffset& record);
void append(std::string& out, const DataEnd& record);
void append(std::string& out, const Footer& record);

FileHeader parse_file_header(std::string_view content);
SchemaRecord parse_schema_record(std::string_view content);
ChannelRecord parse_channel(std::string_view content);
MessageRecord parse_message(std::string_view content);
ChunkRecord parse_chunk(std::string_view content);
MessageIndex parse_message_index(std::string_view content);
ChunkIndex parse_chunk_index(std::string_view content);
Statistics parse_statistics(std::string_view content);
Metadata parse_metadata(std::string_view content);
DataEnd parse_data_end(std::string_view content);
Footer parse_footer(std::string_view content);

/// Removes the first record from `records`, a sequence of records in memory, and returns its kind and its content.
/// Throws kCorrupt if the record is incomplete.
std::pair<Opcode, std::string_view> take_record(std::string_view& records);

}  // namespace trainyard::recordings
