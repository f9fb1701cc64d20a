// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "messages/scalar.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/testing/command_fixture.h"

namespace trainyard::tools {

using namespace testing;
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

/// Measures a publisher whose rate is known exactly: the sending times in its messages are 4 ms apart.
class TopicMetersTest : public CommandOnFakeRun {
 protected:
  /// Returns `count` messages, of which only every `step`-th arrives.
  static std::vector<FakeMessage> messages(std::uint64_t count, std::uint64_t step = 1) {
    std::vector<FakeMessage> all;
    const std::string body = body_of(Scalar{"loss", 1.5});
    for (std::uint64_t i = 0; i < count; i += step) {
      all.push_back(
          {{.sequence = i, .send_time_ns = 1'700'000'000'000'000'000 + static_cast<std::int64_t>(i) * 4'000'000},
           body});
    }
    return all;
  }
};

TEST_F(TopicMetersTest, MeasuresTheRateOfAPublisherThoughMessagesWereDropped) {
  run_.add_topic<Scalar>("/all", messages(2000));
  run_.add_topic<Scalar>("/some", messages(2000, 7));
  run_.start();
  EXPECT_EQ(command({"topic", "hz", "all", "--json"}), kExitOk) << err_;
  EXPECT_NEAR(json_lines().back()["rate_hz"].get<double>(), 250, 1e-6);
  EXPECT_EQ(json_lines().back()["messages"], 2000);
  EXPECT_EQ(json_lines().back()["missed"], 0);
  EXPECT_EQ(json_lines().back()["window"], 1000);
  EXPECT_EQ(command({"topic", "hz", "/some", "--json", "--window", "100"}), kExitOk) << err_;
  const json last = json_lines().back();
  EXPECT_NEAR(last["rate_hz"].get<double>(), 250, 1e-6);
  EXPECT_NEAR(last["interval_max_s"].get<double>(), 0.004, 1e-9);
  EXPECT_EQ(last["missed"], 1995 - 285);
  EXPECT_EQ(last["window"], 100);
  EXPECT_EQ(last["summary"], true);
}

TEST_F(TopicMetersTest, MeasuresBytesAndDelays) {
  run_.add_topic<Scalar>("/all", messages(100));
  std::vector<FakeMessage> fresh = messages(100);
  // The sending times are in the future, so the delays are negative, but they are counted, because the messages are
  // newer than the start of the measurement.
  for (FakeMessage& message : fresh) message.header.send_time_ns += 1'000'000'000'000'000'000;
  run_.add_topic<Scalar>("/fresh", fresh);
  run_.start();
  EXPECT_EQ(command({"topic", "bw", "/all", "--json"}), kExitOk) << err_;
  const double size = static_cast<double>(body_of(Scalar{"loss", 1.5}).size());
  EXPECT_NEAR(json_lines().back()["body_bytes_per_s"].get<double>(), 250 * size, 1e-6);
  EXPECT_EQ(json_lines().back()["tensor_bytes_per_s"], 0);
  EXPECT_EQ(command({"topic", "delay", "/fresh", "--json"}), kExitOk) << err_;
  EXPECT_LT(json_lines().back()["delay_max_s"].get<double>(), 0);
  EXPECT_EQ(command({"topic", "delay", "/all"}), kExitNotFound) << "all of them were sent before";
  EXPECT_THAT(err_, HasSubstr("100 message(s) on '/all' before the run ended; one that is sent meanwhile is needed"));
}

TEST_F(TopicMetersTest, ShowsARowAndASummaryThatFitA80ColumnTerminal) {
  run_.add_topic<Scalar>("/all", messages(100, 9));
  run_.start();
  EXPECT_EQ(command({"topic", "hz", "/all"}), kExitOk) << err_;
  EXPECT_EQ(out_.substr(0, out_.rfind('\n', out_.size() - 2) + 1),
            "        rate    interval         min         max         std  window   missed\n"
            "      250 Hz        4 ms        4 ms        4 ms         0 s      12       88\n");
  EXPECT_THAT(out_, HasSubstr("\n/all: 12 messages in "));
}

TEST_F(TopicMetersTest, EndsAsRequestedAndNeedsEnough) {
  run_.add_topic<Scalar>("/all", messages(100), false);
  run_.add_topic<Scalar>("/one", messages(1), false);
  run_.start();
  EXPECT_EQ(command({"topic", "hz", "/all", "--count", "10", "--json"}), kExitOk) << err_;
  EXPECT_EQ(json_lines().back()["messages"], 10);
  EXPECT_EQ(command({"topic", "hz", "/one", "--timeout", "0.2"}), kExitTimeout);
  EXPECT_THAT(err_, HasSubstr("1 message(s) on '/one' within 0.2 s; a rate needs two"));
  EXPECT_EQ(command({"topic", "hz", "/one", "--window", "1"}), kExitUsage);
  EXPECT_EQ(command({"topic", "hz", "/on"}), kExitNotFound);
  EXPECT_THAT(err_, HasSubstr("no topic '/on'; did you mean '/one'?"));
}

TEST_F(TopicMetersTest, SumsUpWhenItIsInterrupted) {
  run_.add_topic<Scalar>("/all", messages(100), false);
  run_.start();
  StartedCommand hz(run_.runtime_directory(), {"topic", "hz", "/all", "--every", "0.01"});
  EXPECT_THAT(hz.line(), HasSubstr("rate"));
  bool measured = false;
  for (int i = 0; i < 10'000 && !measured; ++i) measured = hz.line().find("250 Hz") != std::string::npos;
  EXPECT_TRUE(measured);
  EXPECT_EQ(hz.end_with(SIGINT), kExitInterrupted);
  std::string last;
  for (std::string line = hz.line(); !line.empty(); line = hz.line()) last = line;
  EXPECT_THAT(last, MatchesRegex("/all: 100 messages in [0-9.]+ s, 0 missed"));
}

}  // namespace
}  // namespace trainyard::tools
