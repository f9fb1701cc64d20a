// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "messages/error.h"
#include "recordings/mcap_reader.h"
#include "recordings/mcap_writer.h"

namespace trainyard::recordings::testing {

/// A new directory for one test. The destructor removes it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = std::filesystem::temp_directory_path() / "trainyard-recording-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// Returns the text of the Error that `action` throws, or an empty string if it does not throw.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// A message that was read from a file.
struct Read {
  std::string topic;
  std::uint32_t sequence = 0;
  std::uint64_t log_time = 0;
  std::uint64_t publish_time = 0;
  std::string data;

  friend bool operator==(const Read&, const Read&) = default;
};

/// Returns the selected messages of a file, in the order of their times.
inline std::vector<Read> read_messages(const std::string& path, Selection selection = {}) {
  const McapReader reader(path);
  MessageStream stream(reader, std::move(selection));
  std::vector<Read> all;
  while (const auto message = stream.next()) {
    const MessageRecord& record = message->record;
    all.push_back(
        {message->channel.topic, record.sequence, record.log_time, record.publish_time, std::string(record.data)});
  }
  return all;
}

/// Writes a file with two topics, /a and /b, whose messages alternate: the n-th message has the time 100 * n and the
/// data {"n":n}. The chunks have about 500 bytes. If `whole` is false, the writer ends without closing the file, as if
/// it had been killed.
inline void write_sample(const std::string& path, std::uint32_t messages, bool whole = true) {
  McapWriter writer(path, {"", "test"}, {.chunk_bytes = 500});
  writer.write(Metadata{"facts", {{"key", "value"}}});
  const auto schema =
      writer.add(SchemaRecord{.name = "Number", .encoding = "jsonschema", .data = R"({"type":"object"})"});
  const auto a =
      writer.add(ChannelRecord{.schema = schema, .topic = "/a", .encoding = "json", .metadata = {{"x", "y"}}});
  const auto b = writer.add(ChannelRecord{.schema = schema, .topic = "/b", .encoding = "json"});
  for (std::uint32_t n = 0; n < messages; ++n) {
    const std::string data = "{\"n\":" + std::to_string(n) + "}";
    writer.write(MessageRecord{n % 2 == 0 ? a : b, n / 2, 100 * n, 100 * n - 7, data});
  }
  whole ? writer.close() : writer.flush();
}

}  // namespace trainyard::recordings::testing
