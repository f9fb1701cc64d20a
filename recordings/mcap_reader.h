// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "recordings/contents.h"

namespace trainyard::recordings {

/// Reads an MCAP file. If the file has an index, only the index is read at first; otherwise, or if the index is
/// damaged, the whole file is read once to make one.
class McapReader {
 public:
  /// Opens the file and reads its index. Throws kNotFound or kIo if the file cannot be read, and kCorrupt if it is not
  /// an MCAP file.
  explicit McapReader(std::string path);

  const Contents& contents() const { return contents_; }
  const InputFile& file() const { return file_; }
  /// Returns why the index of the file could not be used, and what could not be read; empty if the file is as it should
  /// be. Only `verify` reads everything, so a file without a problem may still be damaged.
  const std::string& problem() const { return problem_; }

 private:
  // Reads the summary. Returns false if there is none.
  bool read_summary();
  void keep(Opcode kind, std::string_view content);  // One record of the summary.
  void read_metadata(const MetadataIndex& index);
  void read_all(const std::string& why);

  InputFile file_;
  Contents contents_;
  std::string problem_;
};

/// Selects messages of a file.
struct Selection {
  /// Returns true for the channels whose messages are wanted. Empty: all.
  std::function<bool(const ChannelRecord&)> channel;
  std::uint64_t start = 0;                                        ///< The earliest log_time.
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();  ///< The first log_time that is not wanted any more.
};

/// A message of a stream. The references are valid until the next call of next().
struct StreamedMessage {
  const ChannelRecord& channel;
  MessageRecord record;
};

/// The selected messages of a file in the order of their log_time. Messages of the same time are in the order of the
/// file. Only the chunks that contain selected messages are read, and only those whose times overlap are in memory
/// together.
class MessageStream {
 public:
  /// The reader must outlive the stream.
  MessageStream(const McapReader& reader, Selection selection);
  ~MessageStream();

  /// Returns the next message; empty after the last one. Throws kCorrupt if a chunk is damaged, or if the chunks that
  /// overlap need more than kMostOpenBytes.
  std::optional<StreamedMessage> next();

 private:
  struct OpenChunk;
  struct Place;

  bool wants(std::uint16_t channel) const;
  bool wants(const Chunk& chunk) const;
  void open(const Chunk& chunk);

  const McapReader& reader_;
  Selection selection_;
  std::vector<bool> wanted_;                      ///< By id of the channel.
  std::vector<const Chunk*> waiting_;             ///< The chunks that have not been opened, the next one last.
  std::vector<std::unique_ptr<OpenChunk>> open_;  ///< A heap by the time of the next message.
  std::unique_ptr<OpenChunk> done_;  ///< The chunk of the message that was returned last, if it is at its end.
  std::uint64_t open_bytes_ = 0;
};

}  // namespace trainyard::recordings
