// SPDX-License-Identifier: Apache-2.0
// Tests recordings of real training runs: records runs, kills a recorder, and plays a recording for the commands that
// show runs.
#include <gmock/gmock.h>
#include <signal.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/integration/training/training_fixture.h"

namespace trainyard {
namespace {

using nlohmann::json;
using testing::Command;
using ::testing::HasSubstr;
using testing::TrainingTest;

constexpr const char* kRecorder = "[component.recorder]\nplugin = \"recorder\"\n";

class RecordingTest : public TrainingTest {
 protected:
  /// Runs a verb `bag ...` to its end and returns its standard output. Its exit code must be `code`.
  std::string bag(std::vector<std::string> arguments, int code = 0) {
    arguments.insert(arguments.begin(), "bag");
    const auto command = run(std::move(arguments));
    EXPECT_EQ(command->wait(), code) << command->all();
    return command->out();
  }

  json info(const std::string& path) { return json::parse(bag({"info", path, "--json"})); }

  static std::uint64_t messages_on(const json& info, const std::string& topic) {
    for (const json& one : info["topics"]) {
      if (one["topic"] == topic) return one["messages"];
    }
    return 0;
  }

  static std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }

  std::uint64_t size_of(const std::string& path) const {
    std::error_code error;
    const auto size = std::filesystem::file_size(directory_ / path, error);
    return error ? 0 : size;
  }
};

TEST_F(RecordingTest, RecordsEveryMessageOfARunFromTheFirstToTheLast) {
  for (const std::string placement : {"composed", "processes"}) {
    run_to_end(placement, {"max_steps=300", "placement=" + placement}, 0, kRecorder);
    const std::string path = placement + "/recording.mcap";
    const json recorded = info(path);
    EXPECT_EQ(recorded["missed"], 0);
    EXPECT_EQ(recorded["state"], "complete") << recorded.dump(2);
    EXPECT_EQ(messages_on(recorded, "/gradients"), 300u);
    EXPECT_EQ(messages_on(recorded, "/parameters"), 301u);
    EXPECT_EQ(messages_on(recorded, "/model"), 1u);
    EXPECT_EQ(messages_on(recorded, "/metrics"), 300u);
    bag({"verify", path});
  }
}

// Compares with the files of the logger, which shares no code with the recorder.
TEST_F(RecordingTest, ConvertsTheLossesThatTheLoggerWrote) {
  run_to_end("run", {"max_steps=50"}, 0, kRecorder);
  const std::vector<std::string> rows = lines_of(bag({"convert", "run/recording.mcap", "/metrics"}));
  const std::vector<testing::TrainedStep> trained = steps("run");
  ASSERT_EQ(rows.size(), trained.size());
  ASSERT_EQ(trained.size(), 50u);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const json message = json::parse(rows[i])["message"];
    EXPECT_EQ(message["step"], trained[i].step);
    EXPECT_THAT(message["_trace"].get<std::string>(), HasSubstr("0001"));
    double loss = -1;
    for (const json& scalar : message["values"]) {
      if (scalar["name"] == "loss") loss = scalar["value"];
    }
    EXPECT_EQ(loss, std::stod(trained[i].loss));
  }
  EXPECT_THAT(lines_of(bag({"convert", "run/recording.mcap", "/metrics", "--format", "csv"})).front(),
              HasSubstr("log_time_ns,send_time_ns,component,sequence,"));
}

TEST_F(RecordingTest, KeepsWhatARecorderWroteThatWasKilled) {
  const auto training = train("run", {});
  ASSERT_TRUE(eventually([&] { return state_of("optimizer") == "active"; }));
  const auto recorder = run({"bag", "record", "-o", "killed.mcap"});
  ASSERT_TRUE(eventually([&] { return size_of("killed.mcap") > 20'000; })) << recorder->all();
  recorder->signal(SIGKILL);
  recorder->wait();
  bag({"verify", "killed.mcap"}, 1);
  EXPECT_EQ(info("killed.mcap")["state"], "INCOMPLETE");
  EXPECT_THAT(bag({"repair", "killed.mcap", "repaired.mcap"}), HasSubstr("message(s) kept"));
  bag({"verify", "repaired.mcap"});
  const json repaired = info("repaired.mcap");
  EXPECT_EQ(repaired["messages"], info("killed.mcap")["messages"]);
  EXPECT_GT(messages_on(repaired, "/gradients"), 0u);
  EXPECT_EQ(repaired["state"], "INCOMPLETE");
  EXPECT_EQ(state_of("optimizer"), "active");  // Training has not noticed.
  interrupt(*training);
}

TEST_F(RecordingTest, RecordsUntilTheUserInterruptsIt) {
  const auto training = train("run", {});
  ASSERT_TRUE(eventually([&] { return state_of("optimizer") == "active"; }));
  const auto recorder = run({"bag", "record", "/model", "metrics", "-o", "some.mcap"});
  ASSERT_TRUE(eventually([&] { return size_of("some.mcap") > 2'000; })) << recorder->all();
  recorder->signal(SIGINT);
  recorder->wait();
  const json recorded = info("some.mcap");
  EXPECT_EQ(recorded["topics"].size(), 2u);
  EXPECT_EQ(messages_on(recorded, "/model"),
            1u);  // The topic is latched; its message was sent before the recording began.
  EXPECT_EQ(recorded["ended"], "the recorder was interrupted by its user");
  bag({"verify", "some.mcap"});
  interrupt(*training);
}

TEST_F(RecordingTest, NamesTheNearestTopicAndRefusesToReplaceAFile) {
  const auto training = train("run", {});
  ASSERT_TRUE(eventually([&] { return state_of("optimizer") == "active"; }));
  const auto mistaken = run({"bag", "record", "/metrisc"});
  EXPECT_EQ(mistaken->wait(), 3);
  EXPECT_THAT(mistaken->err(), HasSubstr("no topic '/metrisc'; did you mean '/metrics'?"));
  const auto hasty = run({"bag", "record", "-o", "run/metrics.jsonl"});
  EXPECT_EQ(hasty->wait(), 1);
  EXPECT_THAT(hasty->err(), HasSubstr("cannot create run/metrics.jsonl: File exists"));
  interrupt(*training);
}

TEST_F(RecordingTest, PlaysARecordingToTheCommandsThatWatchRuns) {
  run_to_end("run", {"max_steps=40"}, 0, kRecorder);
  const auto player = run({"bag", "play", "run/recording.mcap", "--rate", "0", "--wait"});
  ASSERT_TRUE(eventually([&] { return node("optimizer").is_object(); })) << player->all();
  EXPECT_EQ(state_of("optimizer"), "recorded");
  const auto list = run({"topic", "list"});
  EXPECT_EQ(list->wait(), 0);
  EXPECT_THAT(list->out(), HasSubstr("/metrics"));
  const auto call = run({"param", "list", "optimizer"});
  EXPECT_EQ(call->wait(), 2);
  EXPECT_THAT(call->err(), HasSubstr("this is a recording that is played"));
  const auto echo = run({"topic", "echo", "/metrics", "--json"});
  EXPECT_EQ(echo->wait(), 0) << echo->all();
  EXPECT_EQ(player->wait(), 0) << player->all();
  std::vector<json> expected, played;
  for (const std::string& line : lines_of(bag({"convert", "run/recording.mcap", "/metrics"}))) {
    expected.push_back(json::parse(line)["message"]);
    expected.back().erase("_trace");
  }
  for (const std::string& line : lines_of(echo->out())) played.push_back(json::parse(line));
  EXPECT_EQ(played, expected);
  EXPECT_EQ(played.size(), 40u);
}

}  // namespace
}  // namespace trainyard
