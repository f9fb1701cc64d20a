// SPDX-License-Identifier: Apache-2.0
#include "viewer/recorded_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <utility>

#include "messages/error.h"
#include "messages/histogram.h"
#include "messages/json.h"
#include "messages/message_type.h"
#include "messages/metrics.h"
#include "messages/prediction.h"
#include "messages/validation_results.h"
#include "recordings/message_text.h"
#include "recordings/recorder.h"
#include "recordings/recording.h"
#include "viewer/past_alerts.h"
#include "viewer/recorded_graph.h"

namespace trainyard::viewer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using recordings::ChannelRecord;
using recordings::McapReader;
using recordings::TextMap;

constexpr std::size_t kMaxFiles = 1000;

std::string fact(const McapReader& reader, const std::string& key) {
  const TextMap* run = reader.contents().find_metadata(recordings::kRunMetadata);
  if (run == nullptr) return {};
  const auto found = run->find(key);
  return found == run->end() ? std::string() : found->second;
}

/// Enters the messages of a recording into a book. Messages of types that the viewer does not show are ignored.
class Intake {
 public:
  explicit Intake(Book& book) : book_(book), alerts_(book) {}

  static bool wants(const ChannelRecord& channel) {
    const std::uint64_t type = type_of(channel);
    return type == message_type<Metrics>().fingerprint || type == message_type<RankMetrics>().fingerprint ||
           type == message_type<LogRecord>().fingerprint || type == message_type<Prediction>().fingerprint ||
           type == message_type<Histograms>().fingerprint || type == message_type<Confusion>().fingerprint ||
           type == message_type<SampleResults>().fingerprint;
  }

  void take(const ChannelRecord& channel, std::string_view text) {
    try {
      enter(channel, text);
    } catch (const std::exception&) {
      ++damaged_;
    }
  }

  std::uint64_t damaged() const { return damaged_; }

 private:
  static std::uint64_t type_of(const ChannelRecord& channel) {
    const auto schema = channel.metadata.find(recordings::kSchemaKey);
    return schema == channel.metadata.end() ? 0 : fingerprint(schema->second);
  }

  void enter(const ChannelRecord& channel, std::string_view text) {
    const auto [known, is_new] = types_.try_emplace(channel.id);
    if (is_new) known->second = {type_of(channel), parse_schema(channel.metadata.at(recordings::kSchemaKey))};
    const auto& [type, schema] = known->second;
    const recordings::RestoredMessage message = recordings::restore_message(schema, text);
    const auto bytes = std::as_bytes(std::span(message.body));
    if (type == message_type<Metrics>().fingerprint) {
      const auto metrics = decoded<Metrics>(bytes);
      if (book_.add(metrics)) alerts_.see(metrics);
    } else if (type == message_type<RankMetrics>().fingerprint) {
      alerts_.see(decoded<RankMetrics>(bytes));
    } else if (type == message_type<LogRecord>().fingerprint) {
      book_.add(decoded<LogRecord>(bytes));
    } else if (type == message_type<Histograms>().fingerprint) {
      book_.add(decoded<Histograms>(bytes));
    } else if (type == message_type<Confusion>().fingerprint) {
      book_.add(decoded<Confusion>(bytes));
    } else if (type == message_type<SampleResults>().fingerprint) {
      book_.add(decoded<SampleResults>(bytes));
    } else {
      // The message is converted to JSON and not to the struct Prediction, because the struct would refer to the bytes
      // of the tensors, which the recording need not contain.
      book_.add(sample_of(json::parse(json_from_binary(schema, bytes))));
    }
  }

  template <class T>
  static T decoded(std::span<const std::byte> bytes) {
    T message;
    decode(message, bytes, {});
    return message;
  }

  Book& book_;
  PastAlerts alerts_;
  /// The fingerprint and the schema of each channel's message type.
  std::map<std::uint16_t, std::pair<std::uint64_t, Schema>> types_;
  std::uint64_t damaged_ = 0;
};

}  // namespace

RecordedRun::RecordedRun(const std::string& path) {
  parts_.emplace_back(path);
  const std::string run = fact(parts_.front(), "run");
  if (run.empty()) {
    throw Error(Code::kInvalidArgument, "{} was not recorded by Trainyard: it does not say from which run it is", path);
  }
  // The numbers in the names of the files are not enough, because another recorder can have continued them in the same
  // folder. So the run and the number that are recorded in each file are compared, too.
  std::error_code none;
  for (std::uint64_t number = 2; parts_.size() < kMaxFiles; ++number) {
    const std::string next = recordings::part_path(path, number);
    if (!fs::is_regular_file(next, none)) break;
    const McapReader& part = parts_.emplace_back(next);
    if (fact(part, "run") == run && fact(part, "part") == fmt::to_string(parts_.size())) continue;
    parts_.pop_back();
    break;
  }
}

Identity RecordedRun::identity() const {
  const McapReader& first = parts_.front();
  return {.run = fact(first, "run"),
          .name = fact(first, "name"),
          .file = fact(first, "launch file"),
          .directory = first.file().path(),
          .source = "recording",
          .started_ns = static_cast<std::int64_t>(first.contents().statistics.start_time)};
}

Ending RecordedRun::ending() const {
  std::string message;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) message += (message.empty() ? "" : "; ") + text;
  };
  std::uint64_t missed = 0;
  for (const McapReader& part : parts_) {
    const TextMap* metadata = part.contents().find_metadata(recordings::kCountsMetadata);
    const recordings::Counts counts = metadata == nullptr ? recordings::Counts() : recordings::parse_counts(*metadata);
    missed += counts.missed();
    if (&part == &parts_.back()) add(counts.ended);
    add(counts.cut_short);
    add(part.problem());
  }
  if (missed != 0) add(missed == 1 ? "1 message was missed" : fmt::format("{} messages were missed", missed));
  return {RunPhase::kRecording, message};
}

json RecordedRun::graph() const {
  RecordedTraffic traffic;
  for (const McapReader& part : parts_) traffic.add(part.contents());
  return graph_of_recording(fact(parts_.front(), recordings::kComponentsKey), traffic);
}

void RecordedRun::read(Book& book, const std::stop_token& stop) const {
  Intake intake(book);
  for (const McapReader& part : parts_) {
    recordings::MessageStream stream(part, {.channel = Intake::wants});
    while (!stop.stop_requested()) {
      const auto message = stream.next();
      if (!message) break;
      intake.take(message->channel, message->record.data);
    }
  }
  if (intake.damaged() == 0) return;
  throw Error(Code::kCorrupt, "{}: {} messages could not be understood", parts_.front().file().path(),
              intake.damaged());
}

std::vector<std::string> recordings_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (paths.size() >= kMaxFiles) break;
    if (entry.path().extension() == ".mcap" && entry.is_regular_file(none)) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace trainyard::viewer
