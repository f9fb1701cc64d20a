// SPDX-License-Identifier: Apache-2.0
// Tests `trainyard top` with real runs, in a terminal and without a terminal.

#include <gmock/gmock.h>
#include <signal.h>

#include <sstream>

#include "tests/integration/training/terminal.h"
#include "tests/integration/training/training_fixture.h"
#include "visitors/run_info.h"

namespace trainyard {
namespace {

using nlohmann::json;
using testing::Command;
using ::testing::HasSubstr;
using testing::Terminal;
using testing::TrainingTest;

constexpr const char* kOpened = "\033[?1049h";
constexpr const char* kClosed = "\033[?1049l";

class TopTest : public TrainingTest {
 protected:
  void SetUp() override {
    training_ = train("run", {});
    ASSERT_TRUE(eventually([&] { return !steps("run").empty(); })) << training_->all();
  }

  std::unique_ptr<Command> training_;
};

TEST_F(TopTest, OnePictureForAProgramContainsEveryComponent) {
  const auto top = run({"top", "--once", "--json"});
  ASSERT_EQ(top->wait(), 0) << top->all();
  const json picture = json::parse(top->out());
  EXPECT_EQ(picture["components"].size(), 6u);
  double busy = 0;
  for (const json& component : picture["components"]) {
    EXPECT_EQ(component["state"], "active");
    double all = component["busy"];
    for (const json& wait : component["waiting"]) all += wait["share"].get<double>();
    EXPECT_LE(all, 1.001) << component.dump();
    EXPECT_GT(component["seconds"], 0.0);
    busy += component["busy"].get<double>();
  }
  EXPECT_GT(busy, 0.0);
  EXPECT_FALSE(picture["edges"].empty());
  EXPECT_GT(picture["processes"].at(0)["memory_bytes"], 0u);
  EXPECT_GT(picture["step"], 0u);
}

TEST_F(TopTest, OnePictureForAPipeHasEveryColumnAndNoEscapeSequences) {
  const auto top = run({"top", "--once"});
  ASSERT_EQ(top->wait(), 0) << top->all();
  for (const char* word : {"bottleneck: ", "COMPONENT", "RESTARTS", "WAITS FOR", "accelerator_host", "active"}) {
    EXPECT_THAT(top->out(), HasSubstr(word));
  }
  EXPECT_EQ(top->out().find('\033'), std::string::npos);
}

TEST_F(TopTest, EndsWithTheRun) {
  const auto top = run({"top", "--interval", "0.1"});
  ASSERT_TRUE(eventually([&] { return top->out().find("WAITS FOR") != std::string::npos; }));
  interrupt(*training_);
  EXPECT_EQ(top->wait(), 0);
  EXPECT_THAT(top->out(), HasSubstr(" has ended\n"));
}

TEST_F(TopTest, SaysThatTheRunWasKilled) {
  const auto top = run({"top", "--json", "--interval", "0.1"});
  ASSERT_TRUE(eventually([&] { return !top->out().empty(); }));
  ::kill(visitors::find_run("").pid, SIGKILL);
  EXPECT_EQ(top->wait(), 1);
  EXPECT_THAT(top->err(), HasSubstr(" was killed\n"));
}

TEST_F(TopTest, RedrawsInPlaceAndGivesTheTerminalBack) {
  Terminal terminal(directory_);
  terminal.type(TRAINYARD_PROGRAM " top --interval 0.1; echo code=$?\n");
  ASSERT_TRUE(eventually([&] { return terminal.shows("q quit  s sort: plan"); })) << terminal.shown();
  EXPECT_TRUE(terminal.shows(kOpened));
  terminal.type("s");
  EXPECT_TRUE(eventually([&] { return terminal.shows("s sort: busy"); })) << terminal.shown();
  terminal.type("p");
  EXPECT_TRUE(eventually([&] { return terminal.shows("p components"); })) << terminal.shown();
  EXPECT_FALSE(terminal.shows(kClosed));
  terminal.type("q");
  EXPECT_TRUE(eventually([&] { return terminal.shows("code=0"); })) << terminal.shown();
  EXPECT_TRUE(terminal.shows(kClosed));
}

TEST_F(TopTest, SurvivesCtrlZAndANewSizeAndEndsWithCtrlC) {
  Terminal terminal(directory_);
  terminal.type(TRAINYARD_PROGRAM " top --interval 0.1\n");
  ASSERT_TRUE(eventually([&] { return terminal.shows("q quit"); })) << terminal.shown();
  terminal.type("\x1a");
  EXPECT_TRUE(eventually([&] { return terminal.shows("Stopped"); })) << terminal.shown();
  EXPECT_TRUE(terminal.shows(kClosed)) << "the shell has its terminal back";
  terminal.forget();
  terminal.type("fg\n");
  EXPECT_TRUE(eventually([&] { return terminal.shows("q quit"); })) << terminal.shown();
  EXPECT_TRUE(terminal.shows(kOpened));
  terminal.forget();
  terminal.resize(10, 200);
  EXPECT_TRUE(eventually([&] { return terminal.shows("RESTARTS"); })) << terminal.shown();
  terminal.type("\x03");
  EXPECT_TRUE(eventually([&] { return terminal.shows(kClosed); })) << terminal.shown();
  terminal.type("echo code=$?\n");
  EXPECT_TRUE(eventually([&] { return terminal.shows("code=130"); })) << terminal.shown();
}

}  // namespace
}  // namespace trainyard
