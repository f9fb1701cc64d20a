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

/// Reads an MCAP file. The constructor reads the index of the file. If the file has no index, or if the index is
/// damaged, the constructor reads the whole file in order to make one.
class McapReader {
 public:
  /// Throws kNotFound if the file does not exist, kIo if it cannot be read, and kCorrupt if it is not an MCAP file.
  explicit McapReader(std::string path);

  const Contents& contents() const { return contents_; }
  const InputFile& file() const { return file_; }
  /// Returns a text that states why the index of the file could not be used, and how many bytes could not be read. The
  /// text is empty if no problem was found, but the file may still be damaged, because only `trainyard bag verify`
  /// reads everything.
  const std::string& problem() const { return problem_; }

 private:
  // Reads the summary. Returns false if there is none.
  bool read_summary();
  void keep(Opcode kind, std::string_view content);  // Stores one record of the summary.
  void read_metadata(const MetadataIndex& index);
  void read_all(const std::string& why);

  InputFile file_;
  Contents contents_;
  std::string problem_;
};

/// Specifies which messages of a file are read.
struct Selection {
  /// Returns true for the channels whose messages are read. If this function is empty, the messages of all channels are
  /// read.
  std::function<bool(const ChannelRecord&)> channel;
  std::uint64_t start = 0;                                        ///< The smallest log_time that is read.
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();  ///< Only messages with a smaller log_time are read.
};

/// A message that MessageStream::next() returns. `record.data` is valid until next() is called again; `channel` is
/// valid as long as the McapReader exists.
struct StreamedMessage {
  const ChannelRecord& channel;
  MessageRecord record;
};

/// The selected messages of a file in the order of their log_time. Messages with the same time are in the order of the
/// file. Only chunks that contain selected messages are read, and several chunks are in memory at the same time only if
/// their times overlap.
class MessageStream {
 public:
  /// The reader must outlive the stream.
  MessageStream(const McapReader& reader, Selection selection);
  ~MessageStream();

  /// Returns the next message, or an empty optional after the last one. Throws kCorrupt if a chunk is damaged, or if
  /// chunks with overlapping times need more than kMostOpenBytes of memory.
  std::optional<StreamedMessage> next();

 private:
  struct OpenChunk;
  struct Place;

  bool wants(std::uint16_t channel) const;
  bool wants(const Chunk& chunk) const;
  void open(const Chunk& chunk);

  const McapReader& reader_;
  Selection selection_;
  std::vector<bool> wanted_;           ///< Whether the messages of a channel are selected, by the channel's id.
  std::vector<const Chunk*> waiting_;  ///< The chunks that are not open yet. The last element is opened next.
  std::vector<std::unique_ptr<OpenChunk>> open_;  ///< A heap, ordered by the time of each chunk's next message.
  std::unique_ptr<OpenChunk> done_;  ///< The chunk of the last returned message, if it has no more messages.
  std::uint64_t open_bytes_ = 0;
};

}  // namespace trainyard::recordings
