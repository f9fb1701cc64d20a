// SPDX-License-Identifier: Apache-2.0
#include "viewer/book.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/testing/error_of.h"
#include "core/testing/temporary_folder.h"
#include "viewer/library.h"
#include "viewer/questions.h"
#include "viewer/run_file.h"

namespace trainyard::viewer {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

LogRecord record(std::int64_t time_us, const std::string& text, LogLevel level = LogLevel::kInfo) {
  return {time_us * 1000, level, "optimizer", text};
}

std::vector<std::string> texts(const json& records) {
  std::vector<std::string> list;
  for (const json& each : records) list.push_back(each.at("text"));
  return list;
}

TEST(BookTest, TheLogCanBeReadInPagesAndFiltered) {
  Book book({.run = "a"});
  for (int i = 0; i < 10; ++i) {
    book.add(record(i, "line " + std::to_string(i), i % 5 == 4 ? LogLevel::kWarning : LogLevel::kInfo));
  }
  EXPECT_FALSE(book.add(record(3, "line 3"))) << "it has been told already";
  const json last = book.log({.limit = 3});
  EXPECT_THAT(texts(last["records"]), ElementsAre("line 7", "line 8", "line 9"));
  EXPECT_EQ(last["total"], 10);
  EXPECT_THAT(texts(book.log({.before = 7, .limit = 2})["records"]), ElementsAre("line 5", "line 6"));
  EXPECT_THAT(texts(book.log({.level = LogLevel::kWarning})["records"]), ElementsAre("line 4", "line 9"));
  EXPECT_THAT(texts(book.log({.text = "INE 2"})["records"]), ElementsAre("line 2"));
  EXPECT_THAT(texts(book.log({.component = "logger"})["records"]), ElementsAre());
}

TEST(BookTest, TellsAPageOnlyWhatIsNew) {
  Book book({.run = "a"});
  book.add(record(1, "old"));
  Positions positions = book.positions();
  const std::vector<std::string> what{"log", "curves", "alerts"};
  EXPECT_EQ(book.news(what, positions).size(), 1u) << "the state, once";
  EXPECT_TRUE(book.news(what, positions).empty());
  book.add(record(2, "new"));
  book.add(Metrics{.step = 7, .stage = "train", .time_ns = 5000, .values = {{"loss", 1.5}}});
  const std::vector<json> news = book.news(what, positions);
  ASSERT_EQ(news.size(), 3u);
  EXPECT_EQ(news[0]["step"], 7);
  EXPECT_THAT(texts(news[1]["records"]), ElementsAre("new"));
  EXPECT_EQ(news[2]["stages"], json::parse(R"({"train": 1})"));
  EXPECT_TRUE(book.news(what, positions).empty());
}

TEST(BookTest, NamesTheNearestStageAndMetric) {
  Book book({.run = "a"});
  book.add(Metrics{.step = 1, .stage = "train", .time_ns = 1000, .values = {{"loss", 1}}});
  const auto error = [&](const char* stage, const char* name) {
    return trainyard::testing::error_of([&] { book.curve(stage, name, {}); }).second;
  };
  EXPECT_EQ(error("trian", "loss"), "the run has no stage 'trian'; did you mean 'train'? known: train");
  EXPECT_EQ(error("train", "los"), "the stage 'train' has no metric 'los'; did you mean 'loss'? known: loss");
}

TEST(RunFileTest, EntersWhatTheLoggerWritesAndLeavesTheRestOut) {
  const trainyard::testing::TemporaryFolder folder;
  const std::string path =
      folder.write("metrics.jsonl", R"({"kind":"metrics","time":100.000001,"stage":"train","step":9,"values":{"loss":9}}
{"kind":"metrics","time":200.000001,"stage":"train","step":10,"total_steps":50,"epoch":0,"samples":320,"unit":"sample","units":320,"values":{"loss":0.5}}
{"kind":"metrics","time":200.5,"stage":"train","step":20,"samples":640,"values":{"loss":null},"not_finite":{"loss":"NaN"}}
this is no JSON
{"kind":"log","time":201,"level":"warning","component":"optimizer","text":"slow"}
{"kind":"unknown","time":202}
{"kind":"prediction","time":203,"step":20,"title":"t","text":"To be","tensors":0}
{"kind":"metrics","time":204,"stage":"train","step":30)");
  Book book({.run = "a"});
  book.add(Metrics{.step = 10, .stage = "train", .time_ns = 200'000'001'999, .values = {{"loss", 0.5}}});
  RunFile file(path, 150'000'000'000);
  while (file.read(64, book)) {
  }
  EXPECT_EQ(file.damaged_lines(), 1u);
  const json series = book.series();
  ASSERT_EQ(series.size(), 1u);
  EXPECT_EQ(series[0]["rows"], 2) << "the first is older, the second is known, the last has no end yet";
  EXPECT_TRUE(std::isnan(series[0]["last"].get<double>()));
  EXPECT_THAT(texts(book.log({})["records"]), ElementsAre("slow"));
  EXPECT_THAT(texts(book.samples({}, 10)), ElementsAre("To be"));
  // The rest of the line comes later.
  std::ofstream(path, std::ios::app) << ",\"values\":{\"loss\":0.25}}\n";
  file.read(1 << 20, book);
  EXPECT_EQ(book.series()[0]["rows"], 3);
  EXPECT_EQ(book.summary()["total_steps"], 50);
}

class QuestionsTest : public ::testing::Test {
 protected:
  QuestionsTest() : library_([](const Identity&, const Alert&) {}) {
    folder_.write("runs/one/metrics.jsonl",
                  "{\"kind\":\"metrics\",\"time\":1,\"stage\":\"train\",\"step\":1,\"values\":{\"loss\":2}}\n");
    folder_.write("runs/deeper/two/metrics.jsonl", "");
    folder_.write("runs/no_run/notes.txt", "");
    library_.open_folder(folder_.path("runs"));
  }

  /// Returns the result, or the text of the error.
  json ask(json question, web::Role role = web::Role::kControl) {
    json result;
    try {
      answer_question(
          library_, {role, "test"}, question, [&](json answer) { result = std::move(answer); },
          [&](const Error& error) { result = error.what(); });
    } catch (const Error& error) {
      result = error.what();
    }
    return result;
  }

  trainyard::testing::TemporaryFolder folder_;
  Library library_;
};

TEST_F(QuestionsTest, PastRunsAreFoundBelowAFolder) {
  const json runs = ask({{"op", "runs"}});
  std::set<std::string> names;
  for (const json& run : runs) {
    names.insert(run["name"]);
    EXPECT_EQ(run["source"], "past");
    EXPECT_EQ(run["live"], false);
  }
  EXPECT_THAT(names, ElementsAre("one", "two"));
  EXPECT_THAT(trainyard::testing::error_of([&] { library_.open_folder(folder_.path("runs/no_run")); }).second,
              HasSubstr("contains no run"));
}

TEST_F(QuestionsTest, EachMistakeIsNamed) {
  const std::string run = std::filesystem::canonical(folder_.path("runs/one"));
  EXPECT_THAT(ask({{"op", "curv"}}).get<std::string>(),
              HasSubstr("there is no question 'curv'; did you mean 'curve'?"));
  EXPECT_THAT(ask({{"op", "series"}, {"run", "none"}}).get<std::string>(), HasSubstr("there is no run 'none'"));
  EXPECT_EQ(ask({{"op", "curve"}, {"run", run}, {"points", 9000}}),
            "points: 9000 is not allowed; allowed is a number from 1 to 8000");
  EXPECT_EQ(ask({{"op", "curve"}, {"run", run}, {"smooth", 1}}),
            "smooth: 1 is not allowed; allowed is a number from 0 to below 1");
  EXPECT_EQ(ask({{"op", "curve"}, {"run", run}, {"from", "x"}}), "from: \"x\" is not allowed; allowed is a number");
  EXPECT_THAT(ask({{"op", "curve"}, {"run", run}, {"x", "hours"}}).get<std::string>(),
              HasSubstr("unknown axis 'hours'"));
  EXPECT_EQ(ask({{"op", "log"}, {"run", run}, {"before", -1}}),
            "before: -1 is not allowed; allowed is a whole number from 0 on");
  EXPECT_EQ(ask({{"op", "act"}, {"run", run}, {"action", "stop"}}, web::Role::kWatch),
            "this page may only watch; open the address with the token for control to change the run");
  EXPECT_THAT(ask({{"op", "act"}, {"run", run}, {"action", "stop"}}).get<std::string>(), HasSubstr("is not running"));
  EXPECT_THAT(ask({{"op", 7}}).get<std::string>(), HasSubstr("op: 7 is not allowed"));
}

TEST(BookTest, KnowsWhetherSomebodyLooksAtTheGraph) {
  Book book({.run = "mnist-1"});
  Positions positions = book.positions();
  book.news({"curves", "log"}, positions);
  EXPECT_FALSE(book.graph_is_watched());
  book.news({"curves", "graph"}, positions);
  EXPECT_TRUE(book.graph_is_watched());
}

}  // namespace
}  // namespace trainyard::viewer
