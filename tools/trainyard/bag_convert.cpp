// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/config/bounded_json.h"
#include "messages/error.h"
#include "messages/nearest.h"
#include "recordings/mcap_reader.h"
#include "recordings/recording.h"
#include "tools/trainyard/bag.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/recorded_spans.h"
#include "tools/trainyard/span_recording.h"
#include "tools/trainyard/text_output.h"

namespace trainyard::tools {

using namespace recordings;

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string component_of(const ChannelRecord& channel) {
  const auto component = channel.metadata.find(kComponentKey);
  if (component != channel.metadata.end() && !component->second.empty()) return component->second;
  const auto process = channel.metadata.find(kProcessKey);
  return process == channel.metadata.end() ? "" : process->second;
}

void require_json(const ChannelRecord& channel) {
  if (channel.encoding == "json") return;
  throw Error(Code::kUnsupported, "the messages on '{}' are encoded as '{}'; only json can be converted", channel.topic,
              channel.encoding);
}

json parse_data(const StreamedMessage& message) {
  require_json(message.channel);
  if (auto value = parse_bounded_json(message.record.data)) return std::move(*value);
  throw Error(Code::kCorrupt, "a message on '{}' is not JSON of at most {} levels", message.channel.topic,
              kMaxJsonDepth);
}

/// Returns the topics that match the patterns. Throws kNotFound if a pattern matches no topic of the file.
std::vector<std::string> chosen_topics(const Contents& contents, const std::vector<std::string>& patterns) {
  std::vector<std::string> all, chosen;
  for (const auto& [id, channel] : contents.channels) {
    if (std::ranges::find(all, channel.topic) == all.end()) all.push_back(channel.topic);
  }
  for (const std::string& pattern : patterns) {
    const auto fits = [&](const std::string& topic) { return matches_any({pattern}, topic); };
    if (std::ranges::find_if(all, fits) == all.end()) {
      throw Error(Code::kNotFound, "no topic '{}'{}", pattern, suggestion(pattern, all));
    }
  }
  std::ranges::copy_if(all, std::back_inserter(chosen),
                       [&](const std::string& topic) { return matches_any(patterns, topic); });
  return chosen;
}

Selection selection_of(const std::vector<std::string>& topics) {
  return {[&topics](const ChannelRecord& channel) { return std::ranges::find(topics, channel.topic) != topics.end(); }};
}

/// Writes one line of JSON for each message. The JSON of the message is copied unchanged from the file, so numbers keep
/// all their digits.
void convert_to_lines(const McapReader& reader, const std::vector<std::string>& topics, const std::string& path) {
  TextOutput out(path);
  MessageStream stream(reader, selection_of(topics));
  while (const auto message = stream.next()) {
    parse_data(*message);  // This throws if the data is not valid JSON.
    const MessageRecord& record = message->record;
    const ordered_json head = {{"topic", message->channel.topic},
                               {"component", component_of(message->channel)},
                               {"log_time_ns", record.log_time},
                               {"send_time_ns", record.publish_time},
                               {"sequence", record.sequence}};
    std::string line = head.dump(-1, ' ', false, json::error_handler_t::replace);
    line.pop_back();
    out.write(line);
    out.write(",\"message\":");
    out.write(record.data);
    out.write("}\n");
  }
  out.finish();
}

/// One row of a table, as pairs of a column name and a value.
using Row = std::vector<std::pair<std::string, std::string>>;

std::string cell_of(const json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Returns true for a list of named values, such as those in the message Metrics. Such a list gets one column for each
/// name.
bool is_named_values(const json& value) {
  return value.is_array() && !value.empty() && std::ranges::all_of(value, [](const json& one) {
           return one.is_object() && one.contains("value") && one.contains("name") && one["name"].is_string();
         });
}

/// Appends the fields of a message to the row. Fields of nested structs get names with dots. parse_data() limits the
/// depth of nesting, and thus of this recursion.
void flatten(const std::string& name, const json& value, Row& row) {
  const std::string prefix = name.empty() ? "" : name + ".";
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) flatten(prefix + key, inner, row);
  } else if (is_named_values(value)) {
    for (const json& one : value) row.emplace_back(prefix + one["name"].get<std::string>(), cell_of(one["value"]));
  } else {
    row.emplace_back(name, cell_of(value));
  }
}

Row row_of(const StreamedMessage& message) {
  Row row{{"log_time_ns", fmt::to_string(message.record.log_time)},
          {"send_time_ns", fmt::to_string(message.record.publish_time)},
          {"component", component_of(message.channel)},
          {"sequence", fmt::to_string(message.record.sequence)}};
  flatten("", parse_data(message), row);
  return row;
}

/// Appends a cell to a line of CSV, quoted according to RFC 4180.
void append_cell(std::string& line, std::string_view cell) {
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos) {
    line += cell;
    return;
  }
  line += '"';
  for (const char c : cell) line += c == '"' ? "\"\"" : std::string(1, c);
  line += '"';
}

void write_line(TextOutput& out, const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) {
    if (&cell != cells.data()) line += ',';
    append_cell(line, cell);
  }
  out.write(line + "\r\n");
}

/// Writes the messages of one topic as a CSV table. Reads them twice, first to find all columns, because messages can
/// have different fields.
void convert_to_table(const McapReader& reader, const std::string& topic, const std::string& path) {
  constexpr std::size_t kMostColumns = 10'000;
  const std::vector<std::string> topics{topic};
  std::vector<std::string> columns;
  std::map<std::string, std::size_t> places;
  for (MessageStream stream(reader, selection_of(topics)); const auto message = stream.next();) {
    for (const auto& [name, value] : row_of(*message)) {
      if (places.emplace(name, columns.size()).second) columns.push_back(name);
    }
    if (columns.size() > kMostColumns) {
      throw Error(Code::kUnsupported, "the messages on '{}' have more than {} columns; convert them to jsonl", topic,
                  kMostColumns);
    }
  }
  TextOutput out(path);
  write_line(out, columns);
  for (MessageStream stream(reader, selection_of(topics)); const auto message = stream.next();) {
    std::vector<std::string> cells(columns.size());
    for (auto& [name, value] : row_of(*message)) cells[places.at(name)] = std::move(value);
    write_line(out, cells);
  }
  out.finish();
}

/// Returns the file name of the table for a topic, such as "rank0_batches.csv" for "/rank0/batches". A file from
/// another source may contain any names, so characters that could lead out of the folder are replaced.
std::string table_name(const std::string& topic) {
  std::string name = topic.starts_with('/') ? topic.substr(1) : topic;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') c = '_';
  }
  return (name.empty() ? "topic" : name) + ".csv";
}

void convert_to_tables(const McapReader& reader, const std::vector<std::string>& topics, const std::string& folder) {
  if (folder.empty() && topics.size() != 1) {
    throw Error(Code::kInvalidArgument,
                "a CSV table contains one topic, and {} are chosen: name one, or a folder with --output",
                topics.size());
  }
  if (folder.empty()) return convert_to_table(reader, topics.front(), "");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(Code::kIo, "cannot create {}: {}", folder, error.message());
  for (const std::string& topic : topics) {
    const std::string path = folder + "/" + table_name(topic);
    convert_to_table(reader, topic, path);
    fmt::print("{}\n", path);
  }
}

int convert_to_perfetto(const McapReader& reader, const std::string& path) {
  timeline::Timeline spans;
  read_spans(reader, spans);
  write_perfetto(spans, run_of(reader), path);
  fmt::print("{}\n", path);
  std::fflush(stdout);
  report_lost(spans);
  return kExitOk;
}

}  // namespace

bool matches_any(const std::vector<std::string>& patterns, const std::string& topic) {
  const auto fits = [&](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), topic.c_str(), 0) == 0 ||
           ::fnmatch(("/" + pattern).c_str(), topic.c_str(), 0) == 0;
  };
  return patterns.empty() || std::ranges::any_of(patterns, fits);
}

int bag_convert(const BagArguments& arguments) {
  const McapReader reader(arguments.path);
  if (!reader.problem().empty()) fmt::print(stderr, "trainyard: INCOMPLETE: {}\n", reader.problem());
  if (!arguments.perfetto.empty()) return convert_to_perfetto(reader, arguments.perfetto);
  const std::vector<std::string> topics = chosen_topics(reader.contents(), arguments.topics);
  if (arguments.format == "csv") {
    convert_to_tables(reader, topics, arguments.output);
  } else {
    convert_to_lines(reader, topics, arguments.output);
  }
  return kExitOk;
}

}  // namespace trainyard::tools
