// SPDX-License-Identifier: Apache-2.0
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "messages/printable.h"
#include "recordings/mcap_reader.h"
#include "recordings/recording.h"
#include "recordings/repair.h"
#include "tools/trainyard/bag.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/table.h"

namespace trainyard::tools {

using namespace recordings;

namespace {

/// A summary of all channels of one topic.
struct TopicSummary {
  std::string type;
  std::uint64_t messages = 0;
  std::uint64_t missed = 0;
};

struct RecordingSummary {
  std::map<std::string, TopicSummary> topics;
  bool counted = false;  ///< True if the recording contains the number of missed messages.
  Counts counts;
  double seconds = 0;
};

RecordingSummary summarize(const Contents& contents) {
  RecordingSummary summary;
  for (const auto& [id, channel] : contents.channels) {
    TopicSummary& topic = summary.topics[channel.topic];
    const auto schema = contents.schemas.find(channel.schema);
    if (schema != contents.schemas.end()) topic.type = schema->second.name;
    const auto messages = contents.statistics.channel_messages.find(id);
    if (messages != contents.statistics.channel_messages.end()) topic.messages += messages->second;
  }
  if (const TextMap* counts = contents.find_metadata(kCountsMetadata)) {
    summary.counted = true;
    summary.counts = parse_counts(*counts);
    for (const auto& [topic, count] : summary.counts.topics) summary.topics[topic].missed = count.missed;
  }
  if (contents.statistics.end_time > contents.statistics.start_time) {
    summary.seconds = static_cast<double>(contents.statistics.end_time - contents.statistics.start_time) / 1e9;
  }
  return summary;
}

std::string text_of_time(std::uint64_t nanoseconds) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(nanoseconds / 1'000'000'000)));
}

/// Returns why the recording is incomplete, or an empty text if it is complete or if this is unknown.
std::string incomplete(const RecordingSummary& summary, const std::string& problem) {
  if (!problem.empty()) return problem;
  if (!summary.counted || summary.counts.complete()) return "";
  std::string why = summary.counts.cut_short;
  if (summary.counts.missed() != 0) {
    why = fmt::format("{} message(s) were missed{}{}", summary.counts.missed(), why.empty() ? "" : "; ", why);
  }
  return why;
}

nlohmann::json to_json(const McapReader& reader, const RecordingSummary& summary) {
  const Contents& contents = reader.contents();
  const std::string why = incomplete(summary, reader.problem());
  nlohmann::json topics = nlohmann::json::array();
  for (const auto& [name, topic] : summary.topics) {
    topics.push_back({{"topic", name}, {"type", topic.type}, {"messages", topic.messages}, {"missed", topic.missed}});
  }
  const TextMap* run = contents.find_metadata(kRunMetadata);
  return {{"path", reader.file().path()},
          {"bytes", reader.file().size()},
          {"library", contents.header.library},
          {"run", run == nullptr ? nlohmann::json() : nlohmann::json(*run)},
          {"messages", contents.statistics.messages},
          {"start_time_ns", contents.statistics.start_time},
          {"end_time_ns", contents.statistics.end_time},
          {"missed", summary.counted ? nlohmann::json(summary.counts.missed()) : nlohmann::json()},
          {"ended", summary.counts.ended},
          {"state", !why.empty()      ? "INCOMPLETE"
                    : summary.counted ? "complete"
                                      : "unknown"},
          {"reason", why},
          {"topics", topics}};
}

/// Prints the summary. All texts come from the file, so characters that could control the terminal are replaced.
void print(const McapReader& reader, const RecordingSummary& summary) {
  const Contents& contents = reader.contents();
  fmt::print("file:      {}, {}, written by {}\n", printable_line(reader.file().path()),
             text_of_bytes(reader.file().size()),
             contents.header.library.empty() ? "an unknown program" : printable_line(contents.header.library));
  if (const TextMap* run = contents.find_metadata(kRunMetadata)) {
    const auto fact = [&](const char* key) { return run->contains(key) ? printable_line(run->at(key)) : ""; };
    fmt::print("run:       {}, launch file {}, part {}\n", fact("run"), fact("launch file"), fact("part"));
  }
  fmt::print("time:      {} to {} UTC, {:.3f} s\n", text_of_time(contents.statistics.start_time),
             text_of_time(contents.statistics.end_time), summary.seconds);
  fmt::print("messages:  {} of {} topic(s)\n", contents.statistics.messages, summary.topics.size());
  if (summary.counted) fmt::print("ended:     {}\n", printable_line(summary.counts.ended));
  const std::string why = incomplete(summary, reader.problem());
  if (why.empty()) {
    fmt::print("state:     {}\n", summary.counted ? "complete" : "unknown: the file does not say what was missed");
  } else {
    fmt::print("state:     INCOMPLETE: {}\n", printable_line(why));
  }
  Table table({"topic", "messages", "missed", "Hz", "type"});
  for (const auto& [name, topic] : summary.topics) {
    const std::string rate =
        summary.seconds > 0 ? fmt::format("{:.1f}", static_cast<double>(topic.messages) / summary.seconds) : "";
    table.add(
        {name, fmt::to_string(topic.messages), summary.counted ? fmt::to_string(topic.missed) : "?", rate, topic.type});
  }
  fmt::print("\n{}", table.text(use_colours(), terminal_width()));
}

void print_findings(const Scan& scan) {
  for (const Finding& finding : scan.findings) {
    fmt::print(stderr, "trainyard: byte {}: {}\n", finding.offset, printable_line(finding.text));
  }
  if (scan.all_findings > scan.findings.size()) {
    fmt::print(stderr, "trainyard: and {} more\n", scan.all_findings - scan.findings.size());
  }
}

}  // namespace

std::string text_of_bytes(std::uint64_t bytes) {
  constexpr std::array kUnits{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

int bag_info(const BagArguments& arguments) {
  const McapReader reader(arguments.path);
  const RecordingSummary summary = summarize(reader.contents());
  if (arguments.as_json) {
    const auto json = to_json(reader, summary);
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    print(reader, summary);
  }
  return kExitOk;
}

int bag_verify(const BagArguments& arguments) {
  const InputFile file(arguments.path);
  const Scan result = scan(file);
  print_findings(result);
  if (result.all_findings != 0) return kExitFailed;
  fmt::print("{}: whole; {} message(s) in {} chunk(s)\n", printable_line(arguments.path),
             result.contents.statistics.messages, result.contents.chunks.size());
  return kExitOk;
}

int bag_repair(const BagArguments& arguments) {
  const Repaired repaired = repair(arguments.path, arguments.output);
  print_findings(repaired.damage);
  fmt::print("{}: {} message(s) kept", printable_line(arguments.output), repaired.messages);
  if (repaired.damage.lost_bytes != 0) fmt::print("; {} could not be read", text_of_bytes(repaired.damage.lost_bytes));
  if (repaired.unknown_messages != 0) {
    fmt::print("; {} message(s) left out, because nothing describes them", repaired.unknown_messages);
  }
  fmt::print("{}\n", repaired.damage.all_findings == 0 ? "; nothing was wrong" : "");
  return kExitOk;
}

}  // namespace trainyard::tools
