// SPDX-License-Identifier: Apache-2.0
// The tests check the rules of the "Trace Event Format", which Perfetto requires of JSON files.
#include "timeline/chrome_trace.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "timeline/testing/spans_maker.h"

namespace trainyard::timeline {
namespace {

using nlohmann::json;

json written(const Timeline& timeline, const std::string& run = "mnist-9ix") {
  std::string text;
  write_chrome_trace(timeline.events(), run, [&](std::string_view piece) { text += piece; });
  return json::parse(text);
}

TEST(ChromeTraceTest, SlicesAreCompleteEventsInMicroseconds) {
  Timeline timeline;
  SpansMaker maker;
  Span& span = maker.add(SpanKind::kForward, "host", "forward", 1'234'567'890'123, 1'234'567'891'130);
  span.step = 4;
  span.trace = (std::uint64_t{3} << 48) | 9;
  timeline.add(maker.spans());
  const json events = written(timeline)["traceEvents"];
  ASSERT_EQ(events.size(), 3u) << "the names of the process and of the row, and the slice";
  const json& slice = events[2];
  EXPECT_EQ(slice["ph"], "X");
  EXPECT_EQ(slice["name"], "forward");
  EXPECT_EQ(slice["cat"], "forward");
  EXPECT_EQ(slice["pid"], 10);
  EXPECT_DOUBLE_EQ(slice["ts"], 1'234'567'890.123);
  EXPECT_DOUBLE_EQ(slice["dur"], 1.007);
  EXPECT_EQ(slice["args"], json::parse(R"({"step": 4, "batch": 9, "rank": 2})"));
}

TEST(ChromeTraceTest, RowsHaveNamesAndOneNumberEach) {
  Timeline timeline;
  SpansMaker maker;
  maker.add(SpanKind::kHandler, "host", "Batch", 1, 2);
  maker.add(SpanKind::kStep, "host", "step", 1, 2);
  maker.add(SpanKind::kRead, "loader", "read", 1, 2).own_thread = 2;
  maker.add(SpanKind::kHandler, "host", "Batch", 3, 4);
  timeline.add(maker.spans());
  std::map<std::string, std::string> names;
  const json events = written(timeline)["traceEvents"];
  for (const json& event : events) {
    if (event["ph"] != "M") continue;
    const std::string row = event["name"] == "process_name" ? "process" : event["tid"].dump();
    EXPECT_TRUE(names.emplace(row, event["args"]["name"]).second);
  }
  EXPECT_EQ(names, (std::map<std::string, std::string>{{"process", "mnist-9ix main"},
                                                       {"1", "host (thread main)"},
                                                       {"2", "host: steps"},
                                                       {"3", "loader: own thread 2"}}));
}

TEST(ChromeTraceTest, AMessageIsAnArrowBetweenTheRowsOfItsComponents) {
  Timeline timeline;
  SpansMaker one("loading", 1), other("main", 2);
  other.add(SpanKind::kHop, "host", "Batch", 1000, 3000, "loader");
  other.add(SpanKind::kHop, "host", "Number", 1000, 3000, "a program");
  other.add(SpanKind::kHandler, "host", "Batch", 3000, 4000, "loader");
  one.add(SpanKind::kHandler, "loader", "task", 500, 1500);
  timeline.add(other.spans());
  timeline.add(one.spans());
  json begin, end;
  std::map<std::pair<int, int>, std::string> rows;
  const json events = written(timeline)["traceEvents"];
  for (const json& event : events) {
    if (event["ph"] == "s") begin = event;
    if (event["ph"] == "f") end = event;
    if (event["ph"] == "X") rows[{event["pid"], event["tid"]}] = event["name"];
  }
  EXPECT_EQ(begin["id"], end["id"]);
  EXPECT_EQ(begin["name"], "Batch") << "the sender of the other one is not in the timeline";
  EXPECT_EQ(end["bp"], "e");
  EXPECT_EQ(begin["ts"], 1.0);
  EXPECT_EQ(end["ts"], 3.0);
  EXPECT_EQ((rows[{begin["pid"], begin["tid"]}]), "a task");
  EXPECT_EQ((rows[{end["pid"], end["tid"]}]), "handles Batch");
}

TEST(ChromeTraceTest, TextFromElsewhereStaysInsideItsQuotes) {
  Timeline timeline;
  SpansMaker maker("\"}],\n\x01\xff");
  maker.add(SpanKind::kOther, "a\"b\\", "\"},{", 1, 2, "\xc3");
  timeline.add(maker.spans());
  const json events = written(timeline, "\"run\"")["traceEvents"];
  EXPECT_EQ(events.size(), 3u);
  EXPECT_EQ(events[2]["name"], "\"},{");
}

TEST(ChromeTraceTest, AnEmptyTimelineIsAnEmptyTrace) { EXPECT_EQ(written(Timeline())["traceEvents"], json::array()); }

}  // namespace
}  // namespace trainyard::timeline
