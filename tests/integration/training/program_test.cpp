// SPDX-License-Identifier: Apache-2.0
// Tests external programs that a launch file starts: their environment, their output, and their end.

#include <gmock/gmock.h>
#include <signal.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/integration/training/training_fixture.h"

namespace trainyard {
namespace {

using testing::Command;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing::TrainingTest;

class ProgramTest : public TrainingTest {
 protected:
  /// Returns the part of a launch file that names examples/external_logger.
  static std::string external_logger_part() {
    return "[component.external_logger]\ncommand = [\"/usr/bin/python3\", \"-B\", \"" +
           testing::external_logger_path() + "\"]\n";
  }

  /// Returns the variables that `env` has printed into a file.
  std::map<std::string, std::string> environment_in(const std::string& name) const {
    std::map<std::string, std::string> found;
    std::istringstream text(read(name));
    for (std::string line; std::getline(text, line);) {
      const auto equals = line.find('=');
      if (equals != std::string::npos) found[line.substr(0, equals)] = line.substr(equals + 1);
    }
    return found;
  }
};

/// A program that prints its environment variables, and runs until it is ended.
constexpr const char* kWitness = R"(
[component.witness]
command = ["sh", "-c", "pwd > witness.pwd; env > witness.tmp; mv witness.tmp witness.env; exec sleep 1000"]
params = { answer = 42, "a name" = ["x", true] }
environment = { WITNESS_COLOUR = "green" }
)";

TEST_F(ProgramTest, AProgramIsGivenItsParametersItsEnvironmentAndItsRun) {
  const auto training = train("out", {}, kWitness);
  ASSERT_TRUE(eventually([&] { return !read("witness.env").empty(); })) << training->all();
  auto environment = environment_in("witness.env");
  EXPECT_EQ(nlohmann::json::parse(environment["TRAINYARD_PARAMETERS"], nullptr, false),
            nlohmann::json::parse(R"({"answer": 42, "a name": ["x", true]})"));
  EXPECT_EQ(environment["WITNESS_COLOUR"], "green");
  ASSERT_EQ(run_directories().size(), 1u);
  EXPECT_EQ(environment["TRAINYARD_RUN_DIRECTORY"], run_directories().front());
  EXPECT_THAT(environment["TRAINYARD_RUN"], StartsWith("training-"));
  EXPECT_EQ(run_directories().front().filename(), environment["TRAINYARD_RUN"]);
  EXPECT_EQ(environment["PATH"], ::getenv("PATH")) << "on top of the launcher's own";
  EXPECT_EQ(read("witness.pwd"), std::filesystem::canonical(directory_).string() + "\n") << "where launch was called";
  EXPECT_EQ(state_of("witness"), "running");
  const pid_t pid = pid_of("witness");
  interrupt(*training);
  EXPECT_FALSE(alive(pid));
}

TEST_F(ProgramTest, TheExternalLoggerAsAPartOfALaunchFilePrintsAndEndsWithTheRun) {
  if (!testing::has_pyzmq()) GTEST_SKIP() << "the external logger needs pyzmq (Debian: python3-zmq)";
  const auto training = train("out", {}, external_logger_part());
  ASSERT_TRUE(eventually([&] { return training->out().find("[external_logger] train  step ") != std::string::npos; }))
      << training->all();
  EXPECT_THAT(training->out(), HasSubstr("[external_logger] attached to training-"));
  // A single subscription covers both possible senders: the accelerator host and, in a run with several ranks, the
  // strategy manager.
  EXPECT_EQ(visitors("/metrics")["visitors"], 1);
  interrupt(*training);
  EXPECT_THAT(training->out(), ::testing::ContainsRegex("\\[external_logger\\] (stopped|the run has ended): "));
  EXPECT_THAT(training->all(), Not(HasSubstr("Traceback")));
}

// In this test, the end of the run, the launcher's signals and the end of the program are close together in time.
TEST_F(ProgramTest, TheExternalLoggerEndsAShortRunWithoutATraceback) {
  if (!testing::has_pyzmq()) GTEST_SKIP() << "the external logger needs pyzmq (Debian: python3-zmq)";
  for (const char* steps : {"max_steps=300", "max_steps=3000", "max_steps=10000"}) {
    const auto training = train("out", {steps}, external_logger_part());
    EXPECT_EQ(training->wait(), 0) << training->all();
    // If the program had not attached yet, Python may still have been starting, and then Python itself handles the
    // signal.
    if (training->all().find("attached to") == std::string::npos) continue;
    EXPECT_THAT(training->all(), Not(HasSubstr("Traceback"))) << steps;
  }
}

TEST_F(ProgramTest, AProgramThatFailsEndsTheRunUnlessItIsNotRequired) {
  const std::string fails = "[component.failing]\ncommand = [\"sh\", \"-c\", \"echo no such database >&2; exit 3\"]\n";
  const std::string required = run_to_end("required", {}, 1, fails);
  EXPECT_THAT(required, HasSubstr("program 'failing' ended with exit code 3"));
  EXPECT_THAT(required, HasSubstr("[failing] no such database"));
  const std::string optional = run_to_end("optional", {"max_steps=200"}, 0, fails + "required = false\n");
  EXPECT_THAT(optional, HasSubstr("program 'failing' ended with exit code 3"));
}

TEST_F(ProgramTest, ALaunchOfProgramsAloneLastsAsLongAsTheyDo) {
  const std::string text = R"(
[run]
name = "programs"
[component.short]
command = ["sh", "-c", "echo $TRAINYARD_RUN"]
[component.long]
command = ["sh", "-c", "until test -e go; do sleep 0.01; done; echo done"]
)";
  const auto programs = launch(file(text));
  ASSERT_TRUE(eventually([&] { return programs->out().find("[short] programs-") != std::string::npos; }))
      << programs->all();
  EXPECT_TRUE(programs->running());
  const auto plan = run({"plan", directory_ / "test.toml"});
  EXPECT_EQ(plan->wait(), 0) << plan->all();
  const auto topics = run({"topic", "list"});
  EXPECT_EQ(topics->wait(), 0) << topics->all();
  file("", "go");
  EXPECT_EQ(programs->wait(), 0) << programs->all();
  EXPECT_THAT(programs->out(), HasSubstr("[long] done"));
  EXPECT_TRUE(run_directories().empty());
}

TEST_F(ProgramTest, ALaunchOfProgramsAloneFailsWithOneAndStopsAtAnInterrupt) {
  const auto failing =
      launch(file("[component.a]\ncommand = [\"sh\", \"-c\", \"exit 4\"]\n"
                  "[component.b]\ncommand = [\"sleep\", \"1000\"]\n"));
  EXPECT_EQ(failing->wait(), 1) << failing->all();
  EXPECT_THAT(failing->all(), HasSubstr("program 'a' ended with exit code 4"));
  const auto endless = launch(file("[component.b]\ncommand = [\"sleep\", \"1000\"]\n"));
  ASSERT_TRUE(eventually([&] { return state_of("b") == "running"; })) << endless->all();
  interrupt(*endless);
}

}  // namespace
}  // namespace trainyard
