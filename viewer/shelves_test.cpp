// SPDX-License-Identifier: Apache-2.0
#include "viewer/shelves.h"

#include <gmock/gmock.h>

namespace trainyard::viewer {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

LogRecord record(std::int64_t time_us, const std::string& text, LogLevel level = LogLevel::kInfo) {
  return {time_us * 1000, level, "optimizer", text};
}

std::vector<std::string> texts(const json& records) {
  std::vector<std::string> list;
  for (const json& each : records) list.push_back(each.at("text"));
  return list;
}

TEST(ShelvesTest, TellsAPageOnlyWhatIsNew) {
  Shelves run;
  run.log.add(record(1, "old"));
  Positions positions = run.positions();
  const std::vector<NewsOf> what{NewsOf::kLog, NewsOf::kCurves, NewsOf::kAlerts};
  EXPECT_EQ(run.news(what, positions).size(), 1u) << "the state, once";
  EXPECT_TRUE(run.news(what, positions).empty());
  run.log.add(record(2, "new"));
  run.curves.add(Metrics{.step = 7, .stage = "train", .time_ns = 5000, .values = {{"loss", 1.5}}});
  const std::vector<json> news = run.news(what, positions);
  ASSERT_EQ(news.size(), 3u);
  EXPECT_EQ(news[0]["step"], 7);
  EXPECT_THAT(texts(news[1]["records"]), ElementsAre("new"));
  EXPECT_EQ(news[2]["stages"], json::parse(R"({"train": 1})"));
  EXPECT_TRUE(run.news(what, positions).empty());
}

TEST(ShelvesTest, KnowsWhetherSomebodyLooksAtTheGraph) {
  Shelves run;
  Positions positions = run.positions();
  run.news({NewsOf::kCurves, NewsOf::kLog}, positions);
  EXPECT_FALSE(run.graph.is_watched());
  run.news({NewsOf::kCurves, NewsOf::kGraph}, positions);
  EXPECT_TRUE(run.graph.is_watched());
}

TEST(ShelvesTest, APageThatBeginsToWatchTheGraphGetsIt) {
  Shelves run;
  run.graph.set({{"edges", json::array()}});
  Positions positions = run.positions();
  positions.state = "is known";
  const std::vector<json> news = run.news({NewsOf::kGraph}, positions);
  ASSERT_EQ(news.size(), 2u);
  EXPECT_EQ(news[0]["state"], "starting");
  EXPECT_EQ(news[1], json::parse(R"({"push": "graph", "graph": {"edges": []}})"));
  EXPECT_TRUE(run.news({NewsOf::kGraph}, positions).empty());
}

TEST(ShelvesTest, OfALongListAPageGetsTheNewestElements) {
  Shelves run;
  Positions positions = run.positions();
  for (std::uint64_t i = 0; i <= kMostNews; ++i) run.alerts.add({.step = i, .text = "a"});
  const json alerts = run.news({NewsOf::kAlerts}, positions).back()["alerts"];
  EXPECT_EQ(alerts.size(), kMostNews);
  EXPECT_EQ(alerts.back()["step"], kMostNews);
}

TEST(ShelvesTest, EachChangeIsAPush) {
  Shelves run;
  run.changes.add({.step = 1, .component = "optimizer", .name = "lr", .from = 1, .to = 2, .who = "test"});
  Positions positions = run.positions();
  run.changes.add({.step = 2, .component = "optimizer", .name = "lr", .from = 2, .to = 3, .who = "test"});
  run.changes.add({.step = 3, .component = "optimizer", .name = "lr", .from = 3, .to = 4, .who = "test"});
  const std::vector<json> news = run.news({NewsOf::kParameters}, positions);
  ASSERT_EQ(news.size(), 3u) << "the state, and two changes";
  EXPECT_EQ(news[1]["push"], "parameters");
  EXPECT_EQ(news[1]["change"]["step"], 2);
  EXPECT_EQ(news[2]["change"]["step"], 3);
}

}  // namespace
}  // namespace trainyard::viewer
