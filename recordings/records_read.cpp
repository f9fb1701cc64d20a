// SPDX-License-Identifier: Apache-2.0
// Reads the records. The bytes are untrusted, so ByteReader checks every length against the number of bytes that exist.
#include "recordings/bytes.h"
#include "recordings/records.h"

namespace trainyard::recordings {
namespace {

TextMap take_texts(ByteReader& reader) {
  ByteReader entries(reader.text(), "map of texts");
  TextMap map;
  while (entries.remaining() != 0) {
    const std::string_view key = entries.text();
    map.insert_or_assign(std::string(key), std::string(entries.text()));
  }
  return map;
}

std::map<std::uint16_t, std::uint64_t> take_numbers(ByteReader& reader) {
  ByteReader entries(reader.text(), "map of numbers");
  std::map<std::uint16_t, std::uint64_t> map;
  while (entries.remaining() != 0) {
    const auto key = entries.number<std::uint16_t>();
    map[key] = entries.number<std::uint64_t>();
  }
  return map;
}

}  // namespace

// Braced initialisers are evaluated in the order in which they are written, which is that of the fields.

FileHeader parse_file_header(std::string_view content) {
  ByteReader reader(content, "header record");
  return {std::string(reader.text()), std::string(reader.text())};
}

SchemaRecord parse_schema_record(std::string_view content) {
  ByteReader reader(content, "schema record");
  return {reader.number<std::uint16_t>(), std::string(reader.text()), std::string(reader.text()),
          std::string(reader.text())};
}

ChannelRecord parse_channel(std::string_view content) {
  ByteReader reader(content, "channel record");
  return {reader.number<std::uint16_t>(), reader.number<std::uint16_t>(), std::string(reader.text()),
          std::string(reader.text()), take_texts(reader)};
}

MessageRecord parse_message(std::string_view content) {
  ByteReader reader(content, "message record");
  return {reader.number<std::uint16_t>(), reader.number<std::uint32_t>(), reader.number<std::uint64_t>(),
          reader.number<std::uint64_t>(), reader.take(reader.remaining())};
}

ChunkRecord parse_chunk(std::string_view content) {
  ByteReader reader(content, "chunk record");
  ChunkRecord record{reader.number<std::uint64_t>(), reader.number<std::uint64_t>(), reader.number<std::uint64_t>(),
                     reader.number<std::uint32_t>(), reader.text()};
  record.records = reader.take(reader.number<std::uint64_t>());
  return record;
}

MessageIndex parse_message_index(std::string_view content) {
  ByteReader reader(content, "message index record");
  MessageIndex record{reader.number<std::uint16_t>()};
  ByteReader entries(reader.text(), "message index record");
  while (entries.remaining() != 0) {
    const auto time = entries.number<std::uint64_t>();
    record.entries.emplace_back(time, entries.number<std::uint64_t>());
  }
  return record;
}

ChunkIndex parse_chunk_index(std::string_view content) {
  ByteReader reader(content, "chunk index record");
  return {reader.number<std::uint64_t>(), reader.number<std::uint64_t>(), reader.number<std::uint64_t>(),
          reader.number<std::uint64_t>(), take_numbers(reader),           reader.number<std::uint64_t>(),
          std::string(reader.text()),     reader.number<std::uint64_t>(), reader.number<std::uint64_t>()};
}

Statistics parse_statistics(std::string_view content) {
  ByteReader reader(content, "statistics record");
  return {reader.number<std::uint64_t>(), reader.number<std::uint16_t>(), reader.number<std::uint32_t>(),
          reader.number<std::uint32_t>(), reader.number<std::uint32_t>(), reader.number<std::uint32_t>(),
          reader.number<std::uint64_t>(), reader.number<std::uint64_t>(), take_numbers(reader)};
}

Metadata parse_metadata(std::string_view content) {
  ByteReader reader(content, "metadata record");
  return {std::string(reader.text()), take_texts(reader)};
}

DataEnd parse_data_end(std::string_view content) {
  return {ByteReader(content, "data end record").number<std::uint32_t>()};
}

Footer parse_footer(std::string_view content) {
  ByteReader reader(content, "footer record");
  return {reader.number<std::uint64_t>(), reader.number<std::uint64_t>(), reader.number<std::uint32_t>()};
}

std::pair<Opcode, std::string_view> take_record(std::string_view& records) {
  ByteReader reader(records, "sequence of records");
  const auto opcode = static_cast<Opcode>(reader.number<std::uint8_t>());
  const std::string_view content = reader.take(reader.number<std::uint64_t>());
  records.remove_prefix(reader.position());
  return {opcode, content};
}

}  // namespace trainyard::recordings
