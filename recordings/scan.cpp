// SPDX-License-Identifier: Apache-2.0
#include "recordings/scan.h"

#include <algorithm>
#include <tuple>

#include "messages/error.h"
#include "recordings/bytes.h"
#include "recordings/limits.h"
#include "recordings/resync.h"
#include "recordings/stated_summary.h"

namespace trainyard::recordings {
namespace {

/// Reads and checks the records of one file, one after another.
class Scanner {
 public:
  explicit Scanner(const InputFile& file) : file_(file) {}

  Scan run() {
    check_magic(file_);
    position_ = kMagic.size();
    while (position_ < file_.size() && !at_end()) step();
    finish();
    return std::move(result_);
  }

 private:
  bool at_end() {
    if (!stated_.has_footer() || file_.size() - position_ != kMagic.size()) return false;
    result_.has_end = file_.read(position_, kMagic.size()) == kMagic;
    return result_.has_end;
  }

  // Handles one record. If the content of the record is damaged, skips the record. If its length cannot be right, it is
  // unknown where the next record begins, so searches for the next chunk.
  void step() {
    const std::uint64_t begin = position_;
    Opcode opcode{};
    std::uint64_t length = 0;
    try {
      std::tie(opcode, length) = read_head(file_, begin);
      if (opcode == Opcode{} || opcode > Opcode::kDataEnd) {
        throw Error(Code::kCorrupt, "no record begins here: {} is no kind of record", static_cast<int>(opcode));
      }
    } catch (const Error& error) {
      return skip_to_chunk(error);
    }
    position_ += kRecordHead + length;
    try {
      handle(opcode, begin, length);
    } catch (const Error& error) {
      if (error.code() == Code::kIo) throw;
      lose(begin, kRecordHead + length, error.what());
    }
  }

  void skip_to_chunk(const Error& error) {
    if (error.code() == Code::kIo) throw error;
    const std::uint64_t begin = position_;
    position_ = find_chunk(file_, begin + 1);
    framing_broken_ = true;
    lose(begin, position_ - begin, error.what());
  }

  void handle(Opcode opcode, std::uint64_t begin, std::uint64_t length) {
    const auto content = [&](std::uint64_t most = kMostMetadataBytes) {
      return read_content(file_, begin, length, most);
    };
    if (opcode != Opcode::kMessage) bare_end_ = 0;
    switch (opcode) {
      case Opcode::kHeader:
        result_.contents.header = parse_file_header(content());
        return;
      case Opcode::kSchema:
        return remember(parse_schema_record(content()), result_.contents.schemas, begin, length);
      case Opcode::kChannel:
        return remember(parse_channel(content()), result_.contents.channels, begin, length);
      case Opcode::kMessage:
        return bare_message(content(kMostMessageBytes), begin, length);
      case Opcode::kChunk:
        return chunk(content(kMostChunkBytes), begin, length);
      case Opcode::kMessageIndex:
        return message_index(parse_message_index(content(kMostChunkBytes)), begin, length);
      case Opcode::kMetadata:
        budget(length);
        ++result_.contents.statistics.metadata;
        result_.contents.metadata.push_back(parse_metadata(content()));
        return;
      case Opcode::kAttachment:
        ++result_.contents.statistics.attachments;
        return;
      default:
        return stated_.take(opcode, content(), begin, result_.contents, find_);
    }
  }

  /// Stores a schema or a channel. If the file contains another record with the same id, the two must be equal.
  template <class Record>
  void remember(Record record, std::map<std::uint16_t, Record>& known, std::uint64_t begin, std::uint64_t length) {
    const auto found = known.find(record.id);
    if (found != known.end()) {
      if (found->second != record) find(begin, fmt::format("the id {} is described in two ways", record.id));
      return;
    }
    budget(length);
    if (stated_.data_ended() && !framing_broken_ && result_.lost_bytes == 0) {
      find(begin, fmt::format("the summary describes the id {}, which is nowhere else", record.id));
    }
    const std::uint16_t id = record.id;
    known.emplace(id, std::move(record));
  }

  void chunk(const std::string& content, std::uint64_t begin, std::uint64_t length) {
    const ChunkRecord record = parse_chunk(content);
    const std::string records = open_chunk(record);
    Chunk made{.index = {.start_time = record.start_time,
                         .end_time = record.end_time,
                         .offset = begin,
                         .length = kRecordHead + length,
                         .compression = std::string(record.compression),
                         .compressed_size = record.records.size(),
                         .size = record.size}};
    expected_.clear();
    walk(records, begin);
    budget(sizeof made + 16 * expected_.size());
    check_times(record, begin);
    ++result_.contents.statistics.chunks;
    result_.contents.chunks.push_back(std::move(made));
  }

  // Goes through the records of a chunk and counts its messages. If a record is malformed, throws, and the chunk and
  // its messages are left out. Because of the checksum, this can hardly happen by accident.
  void walk(std::string_view records, std::uint64_t begin) {
    const std::string_view all = records;
    Statistics counted = result_.contents.statistics;
    while (!records.empty()) {
      const std::uint64_t offset = all.size() - records.size();
      const auto [opcode, content] = take_record(records);
      if (opcode == Opcode::kMessage) count(parse_message(content), offset, counted);
      if (opcode == Opcode::kSchema) {
        remember(parse_schema_record(content), result_.contents.schemas, begin, content.size());
      } else if (opcode == Opcode::kChannel) {
        remember(parse_channel(content), result_.contents.channels, begin, content.size());
      }
    }
    result_.contents.statistics = std::move(counted);
  }

  void count(const MessageRecord& message, std::uint64_t offset, Statistics& counted) {
    counted.start_time = counted.messages == 0 ? message.log_time : std::min(counted.start_time, message.log_time);
    counted.end_time = std::max(counted.end_time, message.log_time);
    ++counted.messages;
    ++counted.channel_messages[message.channel];
    expected_[message.channel].emplace_back(message.log_time, offset);
  }

  void check_times(const ChunkRecord& record, std::uint64_t begin) {
    std::uint64_t start = ~std::uint64_t{0}, end = 0;
    for (const auto& [channel, entries] : expected_) {
      for (const auto& [time, offset] : entries) {
        start = std::min(start, time);
        end = std::max(end, time);
      }
    }
    if (expected_.empty()) start = 0;
    if (record.start_time != start || record.end_time != end) find(begin, "the times of the chunk are wrong");
  }

  void message_index(const MessageIndex& index, std::uint64_t begin, std::uint64_t length) {
    const auto expected = expected_.find(index.channel);
    if (result_.contents.chunks.empty() || expected == expected_.end()) {
      if (!index.entries.empty()) find(begin, "an index of messages that are not in the chunk before it");
      return;
    }
    if (expected->second != index.entries) find(begin, "the index of the messages of a chunk is wrong");
    ChunkIndex& chunk = result_.contents.chunks.back().index;
    chunk.message_indexes[index.channel] = begin;
    chunk.message_index_length += kRecordHead + length;
  }

  /// Handles a message outside of a chunk. A sequence of such messages is treated as a chunk.
  void bare_message(const std::string& content, std::uint64_t begin, std::uint64_t length) {
    constexpr std::uint64_t kMostBareBytes = 1 << 20;
    const MessageRecord message = parse_message(content);
    expected_.clear();
    Statistics counted = result_.contents.statistics;
    count(message, 0, counted);
    result_.contents.statistics = std::move(counted);
    auto& chunks = result_.contents.chunks;
    if (bare_end_ != begin || chunks.back().index.length >= kMostBareBytes) {
      budget(sizeof(Chunk));
      chunks.push_back({.index = {.start_time = message.log_time, .offset = begin}, .bare = true});
    }
    ChunkIndex& index = chunks.back().index;
    index.start_time = std::min(index.start_time, message.log_time);
    index.end_time = std::max(index.end_time, message.log_time);
    index.length += kRecordHead + length;
    index.size = index.length;
    bare_end_ = begin + kRecordHead + length;
  }

  void finish() {
    Statistics& counted = result_.contents.statistics;
    counted.schemas = static_cast<std::uint16_t>(result_.contents.schemas.size());
    counted.channels = static_cast<std::uint32_t>(result_.contents.channels.size());
    for (const auto& [channel, messages] : counted.channel_messages) {
      if (!result_.contents.channels.contains(channel)) {
        find(0, fmt::format("{} message(s) of channel {}, which is not described", messages, channel));
      }
    }
    if (!result_.has_end) return find(file_.size(), "the file has no end: its writer was interrupted");
    stated_.check(file_, result_.contents, find_);
  }

  /// Limits the memory for what is kept of the file. Throws kIo and not kCorrupt, so that the scan ends.
  void budget(std::uint64_t bytes) {
    kept_ += bytes;
    if (kept_ > kMostDescriptionBytes) {
      throw Error(Code::kIo, "{} describes itself with more than {} bytes", file_.path(), kMostDescriptionBytes);
    }
  }

  void lose(std::uint64_t offset, std::uint64_t bytes, const std::string& why) {
    result_.lost_bytes += bytes;
    expected_.clear();
    find(offset, fmt::format("{} bytes cannot be read: {}", bytes, why));
  }

  void find(std::uint64_t offset, std::string text) {
    if (++result_.all_findings <= kMostFindings) result_.findings.push_back({offset, std::move(text)});
  }

  const InputFile& file_;
  Scan result_;
  std::uint64_t position_ = 0;
  std::uint64_t kept_ = 0;
  bool framing_broken_ = false;
  std::uint64_t bare_end_ = 0;  ///< Where the last record ended if it was a message outside of a chunk; otherwise 0.
  /// The times and offsets of the messages of the last chunk, by channel, with which the message indexes after it are
  /// compared.
  std::map<std::uint16_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> expected_;
  StatedSummary stated_;
  const StatedSummary::Find find_ = [this](std::uint64_t offset, std::string text) { find(offset, std::move(text)); };
};

}  // namespace

Scan scan(const InputFile& file) { return Scanner(file).run(); }

}  // namespace trainyard::recordings
