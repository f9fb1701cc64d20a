// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messages/metrics.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/testing/command_fixture.h"

namespace trainyard::tools {

using namespace testing;
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// Runs `topic echo` on a topic with the metrics of five steps.
class TopicEchoTest : public CommandOnFakeRun {
 protected:
  void SetUp() override {
    std::vector<FakeMessage> messages;
    for (std::uint64_t step = 0; step < 50; step += 10) {
      Metrics metrics{.step = step, .stage = step == 20 ? "vali\033[2Jdate" : "train"};
      if (step > 0) metrics.values.push_back({"loss", 1.0 / static_cast<double>(step)});
      messages.push_back({{.sequence = step / 10}, body_of(metrics)});
    }
    run_.add_topic<Metrics>("/metrics", messages);
    run_.start();
  }
};

TEST_F(TopicEchoTest, PrintsFieldsInColumns) {
  EXPECT_EQ(command({"topic", "echo", "/metrics", "--field", "step", "--field", "stage", "--field", "values[0].value"}),
            kExitOk)
      << err_;
  EXPECT_EQ(out_,
            "0\ttrain\t\n10\ttrain\t0.1\n20\tvali?[2Jdate\t0.05\n30\ttrain\t0.03333333333333333\n40\ttrain\t0.025\n");
}

TEST_F(TopicEchoTest, PrintsFieldsAsJson) {
  EXPECT_EQ(
      command({"topic", "echo", "/metrics", "--json", "--field", "values[0].value", "--field", "step", "--count", "2"}),
      kExitOk)
      << err_;
  EXPECT_EQ(out_, "{\"values[0].value\":null,\"step\":0}\n{\"values[0].value\":0.1,\"step\":10}\n");
}

TEST_F(TopicEchoTest, PrintsOnlyWhatMeetsTheCondition) {
  EXPECT_EQ(command({"topic", "echo", "/metrics", "--where", "step % 20 == 0 and stage == 'train'", "--field", "step"}),
            kExitOk)
      << err_;
  EXPECT_EQ(out_, "0\n40\n");
  EXPECT_EQ(command({"topic", "echo", "/metrics", "--where", "values[0].value < 0.03", "--json", "--count", "1"}),
            kExitOk);
  EXPECT_EQ(json_lines().at(0)["step"], 40);
  EXPECT_EQ(command({"topic", "echo", "/metrics", "--where", "step > 1000", "--count", "1"}), kExitNotFound);
  EXPECT_THAT(err_, HasSubstr("the run has ended"));
}

TEST_F(TopicEchoTest, RefusesUnknownFieldsBeforeTheFirstMessage) {
  EXPECT_EQ(command({"topic", "echo", "/metrics", "--field", "stepp"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("'stepp': Metrics has no field 'stepp'; did you mean 'step'?"));
  EXPECT_EQ(command({"topic", "echo", "/metrics", "--where", "step % 10"}), kExitUsage);
  EXPECT_EQ(err_, "trainyard: --where, character 1: the whole expression is a number; a condition is needed\n");
  EXPECT_EQ(out_, "");
}

}  // namespace
}  // namespace trainyard::tools
