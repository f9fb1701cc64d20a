// SPDX-License-Identifier: Apache-2.0
#include "recordings/mcap_reader.h"

#include <algorithm>

#include "messages/error.h"
#include "recordings/bytes.h"
#include "recordings/compression.h"
#include "recordings/limits.h"
#include "recordings/scan.h"

namespace trainyard::recordings {

McapReader::McapReader(std::string path) : file_(std::move(path)) {
  check_magic(file_);
  try {
    if (!read_summary()) read_all("it has no index");
  } catch (const Error& error) {
    if (error.code() != Code::kCorrupt) throw;
    read_all(error.what());
  }
}

bool McapReader::read_summary() {
  const std::uint64_t tail = kFooterBytes + kMagic.size();
  if (file_.size() < kMagic.size() + tail || file_.read(file_.size() - kMagic.size(), kMagic.size()) != kMagic) {
    throw Error(Code::kCorrupt, "it has no end after {} bytes: its writer was interrupted", file_.size());
  }
  const std::uint64_t end = file_.size() - tail;
  const auto [opcode, length] = read_head(file_, end);
  if (opcode != Opcode::kFooter || length != kFooterBytes - kRecordHead)
    throw Error(Code::kCorrupt, "it has no footer at byte {}", end);
  const Footer footer = parse_footer(read_content(file_, end, length, kMostMetadataBytes));
  if (footer.summary_start == 0) return false;
  if (footer.summary_start > end || end - footer.summary_start > kMostDescriptionBytes) {
    throw Error(Code::kCorrupt, "its footer says that the summary begins at byte {} of {}", footer.summary_start,
                file_.size());
  }
  // The checksum covers the summary and the part of the footer before the checksum.
  const std::string summary = file_.read(footer.summary_start, end - footer.summary_start + kFooterBytes);
  std::string_view rest = std::string_view(summary).substr(0, summary.size() - sizeof footer.summary_crc);
  if (const std::uint32_t crc = crc32_of(rest); footer.summary_crc != 0 && crc != footer.summary_crc) {
    throw Error(Code::kCorrupt, "the checksum of its summary is {:08x}, but it should be {:08x}", crc,
                footer.summary_crc);
  }
  rest = std::string_view(summary).substr(0, end - footer.summary_start);
  while (!rest.empty()) {
    const auto [kind, content] = take_record(rest);
    keep(kind, content);
  }
  const std::string head =
      read_content(file_, kMagic.size(), read_head(file_, kMagic.size()).second, kMostMetadataBytes);
  contents_.header = parse_file_header(head);
  return !contents_.chunks.empty() || contents_.statistics.messages == 0;
}

void McapReader::keep(Opcode kind, std::string_view content) {
  if (kind == Opcode::kSchema) {
    SchemaRecord schema = parse_schema_record(content);
    contents_.schemas.emplace(schema.id, std::move(schema));
  } else if (kind == Opcode::kChannel) {
    ChannelRecord channel = parse_channel(content);
    contents_.channels.emplace(channel.id, std::move(channel));
  } else if (kind == Opcode::kChunkIndex) {
    contents_.chunks.push_back({.index = parse_chunk_index(content)});
  } else if (kind == Opcode::kStatistics) {
    contents_.statistics = parse_statistics(content);
  } else if (kind == Opcode::kMetadataIndex) {
    ByteReader reader(content, "metadata index record");
    const auto offset = reader.number<std::uint64_t>();
    read_metadata({offset, reader.number<std::uint64_t>(), std::string(reader.text())});
  }
}

void McapReader::read_metadata(const MetadataIndex& index) {
  const auto [opcode, length] = read_head(file_, index.offset);
  // The number of records is limited, because a hostile summary could name one large record many times.
  if (opcode != Opcode::kMetadata || contents_.metadata.size() >= 1000) {
    throw Error(Code::kCorrupt, "its index of metadata names byte {}, where none is", index.offset);
  }
  contents_.metadata.push_back(parse_metadata(read_content(file_, index.offset, length, kMostMetadataBytes / 64)));
}

void McapReader::read_all(const std::string& why) {
  Scan all = scan(file_);
  contents_ = std::move(all.contents);
  problem_ = why;
  if (all.lost_bytes != 0) problem_ += fmt::format("; {} bytes of it cannot be read", all.lost_bytes);
}

/// A chunk in memory, and its selected messages in the order of their times.
struct MessageStream::OpenChunk {
  std::string records;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> messages;  ///< Pairs of log_time and offset in `records`.
  std::size_t next = 0;
  /// The index of the chunk in the file. It determines the order of messages with the same time.
  std::size_t number = 0;

  std::uint64_t time() const { return messages[next].first; }
  /// The comparison for the heap, whose top is the chunk with the earliest message.
  static bool later(const std::unique_ptr<OpenChunk>& a, const std::unique_ptr<OpenChunk>& b) {
    return std::pair(a->time(), a->number) > std::pair(b->time(), b->number);
  }
};

MessageStream::MessageStream(const McapReader& reader, Selection selection)
    : reader_(reader), selection_(std::move(selection)), wanted_(std::size_t{1} << 16) {
  for (const auto& [id, channel] : reader.contents().channels) {
    wanted_[id] = !selection_.channel || selection_.channel(channel);
  }
  for (const Chunk& chunk : reader.contents().chunks) {
    if (wants(chunk)) waiting_.push_back(&chunk);
  }
  std::ranges::stable_sort(waiting_, {}, [](const Chunk* chunk) { return chunk->index.start_time; });
  std::ranges::reverse(waiting_);
}

MessageStream::~MessageStream() = default;

bool MessageStream::wants(std::uint16_t channel) const { return wanted_[channel]; }

bool MessageStream::wants(const Chunk& chunk) const {
  if (chunk.index.end_time < selection_.start || chunk.index.start_time >= selection_.end) return false;
  if (chunk.index.message_indexes.empty()) return true;  // Without an index, the chunk can contain any channel.
  return std::ranges::any_of(chunk.index.message_indexes, [this](const auto& entry) { return wants(entry.first); });
}

void MessageStream::open(const Chunk& chunk) {
  auto made = std::make_unique<OpenChunk>();
  made->records = read_chunk(reader_.file(), chunk);
  made->number = static_cast<std::size_t>(&chunk - reader_.contents().chunks.data());
  std::string_view rest = made->records;
  while (!rest.empty()) {
    const std::uint64_t offset = made->records.size() - rest.size();
    const auto [opcode, content] = take_record(rest);
    if (opcode != Opcode::kMessage) continue;
    const MessageRecord message = parse_message(content);
    const bool in_time = message.log_time >= selection_.start && message.log_time < selection_.end;
    if (in_time && wants(message.channel)) made->messages.emplace_back(message.log_time, offset);
  }
  if (made->messages.empty()) return;
  std::ranges::sort(made->messages);
  open_bytes_ += made->records.size();
  if (open_bytes_ > kMostOpenBytes) {
    throw Error(Code::kCorrupt, "{}: more than {} bytes of chunks overlap in time", reader_.file().path(),
                kMostOpenBytes);
  }
  open_.push_back(std::move(made));
  std::ranges::push_heap(open_, OpenChunk::later);
}

std::optional<StreamedMessage> MessageStream::next() {
  done_.reset();
  while (!waiting_.empty() && (open_.empty() || waiting_.back()->index.start_time <= open_.front()->time())) {
    const Chunk& chunk = *waiting_.back();
    waiting_.pop_back();
    open(chunk);
  }
  if (open_.empty()) return std::nullopt;
  std::ranges::pop_heap(open_, OpenChunk::later);
  OpenChunk& chunk = *open_.back();
  std::string_view record = std::string_view(chunk.records).substr(chunk.messages[chunk.next++].second);
  const MessageRecord message = parse_message(take_record(record).second);
  if (chunk.next < chunk.messages.size()) {
    std::ranges::push_heap(open_, OpenChunk::later);
  } else {
    open_bytes_ -= chunk.records.size();
    done_ = std::move(open_.back());
    open_.pop_back();
  }
  return StreamedMessage{reader_.contents().channels.at(message.channel), message};
}

}  // namespace trainyard::recordings
