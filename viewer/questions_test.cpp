// SPDX-License-Identifier: Apache-2.0
#include "viewer/questions.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "core/testing/error_of.h"
#include "core/testing/temporary_folder.h"

namespace trainyard::viewer {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class QuestionsTest : public ::testing::Test {
 protected:
  QuestionsTest() : library_([](const Identity&, const Alert&) {}) {
    folder_.write("runs/one/metrics.jsonl",
                  "{\"kind\":\"metrics\",\"time\":1,\"stage\":\"train\",\"step\":1,\"values\":{\"loss\":2}}\n");
    folder_.write("runs/deeper/two/metrics.jsonl", "");
    folder_.write("runs/no_run/notes.txt", "");
    library_.open_folder(folder_.path("runs"));
  }

  /// Asks the question, and returns the result or the text of the error.
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

}  // namespace
}  // namespace trainyard::viewer
