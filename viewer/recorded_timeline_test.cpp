// SPDX-License-Identifier: Apache-2.0
#include "viewer/recorded_timeline.h"

#include <gtest/gtest.h>

#include "timeline/testing/spans_maker.h"

namespace trainyard::viewer {
namespace {

using nlohmann::json;

TEST(RecordedTimelineTest, RowsAreSortedAndSpansReferToThem) {
  timeline::Timeline timeline;
  timeline::SpansMaker maker;
  Span& hop = maker.add(SpanKind::kHop, "host", "Batch", 1'000, 1'400, "loader");
  hop.trace = (std::uint64_t{2} << 48) | 77;
  Span& step = maker.add(SpanKind::kStep, "host", "step", 900, 2'000);
  step.step = 12;
  maker.add(SpanKind::kRead, "loader", "read", 950, 990).own_thread = 3;
  maker.spans().lost = 4;
  timeline.add(maker.spans());

  const json all = json_of(timeline);
  EXPECT_EQ(all["length_ns"], 1'100);
  EXPECT_EQ(all["lost"], 4);
  EXPECT_EQ(all["rows"], json::parse(R"([
    {"process": "main", "component": "host", "thread": "main", "own_thread": 0, "steps": false},
    {"process": "main", "component": "host", "thread": "main", "own_thread": 0, "steps": true},
    {"process": "main", "component": "loader", "thread": "main", "own_thread": 3, "steps": false}])"));
  const json& spans = all["spans"];
  EXPECT_EQ(spans["row"], json::parse("[0, 1, 2]"));
  EXPECT_EQ(spans["kind"], json::parse(R"(["hop", "step", "read"])"));
  EXPECT_EQ(spans["begin_ns"], json::parse("[100, 0, 50]"));
  EXPECT_EQ(spans["ns"], json::parse("[400, 1100, 40]"));
  EXPECT_EQ(spans["step"], json::parse("[0, 12, 0]"));
  EXPECT_EQ(spans["batch"], json::parse("[77, null, null]"));
  EXPECT_EQ(spans["rank"][0], 1);
  EXPECT_EQ(all["texts"][spans["text"][0].get<std::size_t>()], "Batch from loader");
  EXPECT_EQ(all["texts"][spans["peer"][0].get<std::size_t>()], "loader");
}

TEST(RecordedTimelineTest, ATimelineWithoutSpansIsEmptyAndNotNull) {
  const json all = json_of(timeline::Timeline());
  EXPECT_EQ(all["length_ns"], 0);
  EXPECT_EQ(all["rows"], json::array());
  EXPECT_EQ(all["spans"]["begin_ns"], json::array());
}

}  // namespace
}  // namespace trainyard::viewer
