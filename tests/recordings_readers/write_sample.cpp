// SPDX-License-Identifier: Apache-2.0
// Writes a recording with messages of every type into a folder, and also a file with the expected content as JSON
// lines, for readers_test.py.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "messages/json.h"
#include "messages/testing/all_messages.h"
#include "messages/testing/sample.h"
#include "recordings/recorder.h"

namespace trainyard {
namespace {

using nlohmann::json;
using recordings::Feed;

/// Writes messages of one type from two sources.
template <class T>
void write(recordings::Recorder& recorder, std::ofstream& expected, std::uint64_t& time) {
  const MessageType& type = message_type<T>();
  const auto feed =
      std::make_shared<const Feed>(Feed{"/" + type.name, "main", type.schema_text, parse_schema(type.schema_text)});
  for (std::uint64_t i = 0; i < 40; ++i) {
    std::string body;
    std::vector<Buffer> payloads;
    encode(testing::sample<T>(i), body, payloads);
    Header header;
    header.sequence = i / 2;
    header.source = i % 2;
    header.trace = i % 3 == 0 ? 0 : std::uint64_t{1} << 48 | i;
    header.send_time_ns = static_cast<std::int64_t>(++time);
    recorder.take({feed, header, std::as_bytes(std::span(body)), {}, time + 1'000'000});
    json message = json::parse(json_from_binary(feed->schema, std::as_bytes(std::span(body))));
    if (header.trace != 0) message["_trace"] = fmt::format("{:016x}", header.trace);
    expected << json{{"topic", feed->topic},
                     {"type", type.name},
                     {"schema", type.schema_text},
                     {"component", fmt::format("component{}", header.source)},
                     {"sequence", header.sequence},
                     // These numbers are written as texts, because a number in JavaScript has only 53 bits.
                     {"log_time", fmt::to_string(time + 1'000'000)},
                     {"publish_time", fmt::to_string(time)},
                     {"message", message}}
             << "\n";
  }
  recorder.tick(recordings::Recorder::Clock::now() +
                std::chrono::hours(1));  // This ends the chunk, so that every type is in a separate chunk.
}

void write_all(const std::string& folder) {
  std::ofstream expected(folder + "/expected.jsonl");
  recordings::Recorder recorder(
      {.path = folder + "/sample.mcap", .run = {{"run", "sample-1"}}, .component_name = [](std::uint32_t source) {
         return "component" + fmt::to_string(source);
       }});
  std::uint64_t time = 1'700'000'000'000'000'000;
  testing::for_each_message([&]<class T>() { write<T>(recorder, expected, time); });
  recorder.finish("the run has ended");
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  trainyard::write_all(argv[1]);
}
