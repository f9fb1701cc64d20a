// SPDX-License-Identifier: Apache-2.0
#include "recordings/repair.h"

#include <fmt/format.h>

#include "recordings/mcap_writer.h"
#include "recordings/recording.h"

namespace trainyard::recordings {
namespace {

/// Copies messages to a new file. Only one chunk of the old file is in memory at a time.
class Copier {
 public:
  Copier(const InputFile& from, const std::string& to, Repaired& result)
      : from_(from), contents_(result.damage.contents), writer_(to, contents_.header), result_(result) {}

  void run() {
    for (const Metadata& metadata : contents_.metadata) {
      if (metadata.name != kCountsMetadata) writer_.write(metadata);
    }
    for (const auto& [id, schema] : contents_.schemas) schemas_[id] = writer_.add(schema);
    for (const auto& [id, channel] : contents_.channels) add(channel);
    for (const Chunk& chunk : contents_.chunks) copy(read_chunk(from_, chunk));
    writer_.flush();
    if (contents_.find_metadata(kRunMetadata) != nullptr) writer_.write(Metadata{kCountsMetadata, counts()});
    writer_.close();
    result_.messages = writer_.messages();
  }

 private:
  void add(ChannelRecord channel) {
    const std::uint16_t old = channel.id;
    channel.schema = schemas_[channel.schema];  // 0, which means no schema, if the schema is lost.
    topics_[old] = channel.topic;
    channels_[old] = writer_.add(std::move(channel));
  }

  void copy(std::string_view records) {
    while (!records.empty()) {
      const auto [opcode, content] = take_record(records);
      if (opcode != Opcode::kMessage) continue;
      MessageRecord message = parse_message(content);
      const auto channel = channels_.find(message.channel);
      if (channel == channels_.end()) {
        ++result_.unknown_messages;
        continue;
      }
      TopicCount& count = counts_.topics[topics_[message.channel]];
      count.missed += sequences_[message.channel].count(message.sequence);
      ++count.arrived;
      message.channel = channel->second;
      writer_.write(message);
    }
  }

  /// Returns the counts for the new file. If the old file had no damage, its counts are still correct.
  TextMap counts() {
    const TextMap* old = contents_.find_metadata(kCountsMetadata);
    if (old != nullptr && result_.damage.all_findings == 0) return *old;
    counts_.ended = "repaired";
    counts_.cut_short = old == nullptr ? "the recorder was interrupted" : "the file was damaged";
    return to_metadata(counts_);
  }

  const InputFile& from_;
  const Contents& contents_;
  McapWriter writer_;
  Repaired& result_;
  std::map<std::uint16_t, std::uint16_t> schemas_;   ///< The ids in the new file, by the ids in the old file.
  std::map<std::uint16_t, std::uint16_t> channels_;  ///< The ids in the new file, by the ids in the old file.
  std::map<std::uint16_t, std::string> topics_;      ///< The topics, by the ids of their channels in the old file.
  std::map<std::uint16_t, SequenceCounter> sequences_;
  Counts counts_;
};

}  // namespace

Repaired repair(const std::string& from, const std::string& to) {
  const InputFile file(from);
  Repaired result{.damage = scan(file)};
  Copier(file, to, result).run();
  return result;
}

}  // namespace trainyard::recordings
