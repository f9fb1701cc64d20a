// SPDX-License-Identifier: Apache-2.0
#include "components/logger/logger.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "components/logger/test_files.h"
#include "core/testing/rig.h"
#include "messages/error.h"

namespace trainyard {
namespace {

using testing::read_file;
using testing::Rig;
using testing::TemporaryDirectory;

Metrics train(std::uint64_t step, double loss) {
  return {.step = step,
          .total_steps = 10,
          .stage = "train",
          .time_ns = static_cast<std::int64_t>(step) * 1'000'000'000,
          .samples = step,
          .values = {{"loss", loss}}};
}

/// A test fixture with a logger that writes into a temporary directory and shows its lines in a file.
class LoggerTest : public ::testing::Test {
 protected:
  LoggerTest() {
    fd_ = ::open((directory_ / "console").c_str(), O_WRONLY | O_CREAT, 0600);
    ::setenv("TRAINYARD_CONSOLE_FD", std::to_string(fd_).c_str(), 1);
    rig_.world().output_directory = directory_.path();
  }
  ~LoggerTest() override {
    ::unsetenv("TRAINYARD_CONSOLE_FD");
    ::close(fd_);
  }
  std::string console() const { return read_file(directory_ / "console"); }

  TemporaryDirectory directory_;
  int fd_ = -1;
  Rig rig_;
};

TEST_F(LoggerTest, WritesEveryFormatByDefault) {
  rig_.add<Logger>("logger");
  rig_.start();
  rig_.send("/metrics", train(1, 2.5));
  rig_.stop();
  EXPECT_EQ(read_file(directory_ / "metrics_train.csv"), "step,epoch,time,samples,loss\r\n1,0,1.000000,1,2.5\r\n");
  EXPECT_EQ(nlohmann::json::parse(read_file(directory_ / "metrics.jsonl"))["values"]["loss"], 2.5);
  EXPECT_FALSE(std::filesystem::is_empty(directory_ / "tensorboard"));
  EXPECT_EQ(console(), "step 1/10  loss 2.50000\n");
}

TEST_F(LoggerTest, WritesOnlyWhatIsAskedFor) {
  rig_.add<Logger>("logger", R"({"console": "off", "csv": false, "jsonl": false, "tensorboard": false})");
  rig_.start();
  rig_.send("/metrics", train(1, 2.5));
  rig_.stop();
  EXPECT_EQ(console(), "");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "metrics_train.csv"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "metrics.jsonl"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "tensorboard"));
}

TEST_F(LoggerTest, TakesEveryNthStepTheLastStepAndEveryValidation) {
  rig_.add<Logger>("logger", R"({"every_steps": 4, "jsonl": false, "tensorboard": false})");
  rig_.start();
  for (std::uint64_t step = 1; step <= 10; ++step) rig_.send("/metrics", train(step, 1));
  rig_.send("/metrics", Metrics{.step = 7, .stage = "validate", .values = {{"loss", 1.5}}});
  rig_.stop();
  EXPECT_EQ(read_file(directory_ / "metrics_train.csv"),
            "step,epoch,time,samples,loss\r\n4,0,4.000000,4,1\r\n8,0,8.000000,8,1\r\n10,0,10.000000,10,1\r\n");
  EXPECT_NE(read_file(directory_ / "metrics_validate.csv").find("\r\n7,0,0.000000,0,1.5\r\n"), std::string::npos);
}

TEST_F(LoggerTest, FlushesWhileTheRunGoesOn) {
  rig_.add<Logger>("logger");
  rig_.start();
  rig_.send("/metrics", train(1, 2.5));
  rig_.run_until([&] { return !read_file(directory_ / "metrics_train.csv").empty(); });
  rig_.stop();
}

TEST_F(LoggerTest, ListensToEverythingElseThatHappens) {
  rig_.add<Logger>("logger", R"({"csv": false, "tensorboard": false})");
  rig_.start();
  rig_.send("/model", ModelInfo{.model = "mlp"});
  rig_.send("dataset", DatasetInfo{.dataset = "idx"});
  rig_.send("/predictions", Prediction{.title = "sample", .text = "hello"});
  rig_.send("/checkpoints", CheckpointDone{.step = 3, .path = "p"});
  rig_.send("/log", LogRecord{.level = LogLevel::kInfo, .text = "not for the console"});
  rig_.stop();
  std::ifstream file(directory_ / "metrics.jsonl");
  std::vector<std::string> kinds;
  for (std::string line; std::getline(file, line);) kinds.push_back(nlohmann::json::parse(line)["kind"]);
  EXPECT_EQ(kinds, (std::vector<std::string>{"model", "dataset", "prediction", "checkpoint", "log"}));
  EXPECT_NE(console().find("hello"), std::string::npos);
  EXPECT_EQ(console().find("not for the console"), std::string::npos);
}

TEST_F(LoggerTest, AFileThatCannotBeWrittenAnyMoreDoesNotEndTheRun) {
  testing::write_file(directory_ / "metrics_validate.csv", "");
  rig_.add<Logger>("logger", R"({"jsonl": false, "tensorboard": false})");
  rig_.start();
  std::filesystem::remove(directory_ / "metrics_validate.csv");
  // A directory with the name of the file makes writing fail.
  std::filesystem::create_directory(directory_ / "metrics_validate.csv");
  rig_.send("/metrics", Metrics{.step = 1, .stage = "validate", .values = {{"loss", 1.5}}});
  rig_.send("/metrics", train(2, 1));
  rig_.stop();
  EXPECT_NE(console().find("step 2/10"), std::string::npos);
}

TEST_F(LoggerTest, ASecondRunInTheSameDirectoryContinuesItsFiles) {
  for (std::uint64_t step : {1, 2}) {
    Rig rig;
    rig.world().output_directory = directory_.path();
    rig.add<Logger>("logger");
    rig.start();
    rig.send("/metrics", train(step, 2.5));
    rig.stop();
  }
  EXPECT_EQ(read_file(directory_ / "metrics_train.csv"),
            "step,epoch,time,samples,loss\r\n1,0,1.000000,1,2.5\r\n2,0,2.000000,2,2.5\r\n");
  const std::filesystem::directory_iterator files(directory_ / "tensorboard");
  EXPECT_EQ(std::distance(begin(files), end(files)), 2);
}

TEST_F(LoggerTest, DirectoryOverridesTheRunsOwn) {
  rig_.add<Logger>("logger", R"({"directory": ")" + (directory_ / "a/b") + R"("})");
  rig_.start();
  rig_.send("/metrics", train(1, 2.5));
  rig_.stop();
  EXPECT_TRUE(std::filesystem::exists(directory_ / "a/b/metrics_train.csv"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "metrics_train.csv"));
}

TEST_F(LoggerTest, ProgressCanBeForcedWhereThereIsNoTerminal) {
  rig_.add<Logger>("logger", R"({"console": "progress"})");
  rig_.start();
  for (std::uint64_t step = 1; step <= 10; ++step) rig_.send("/metrics", train(step, 2.5));
  rig_.stop();
  const std::string shown = console();
  EXPECT_NE(shown.find("\r\x1b[K"), std::string::npos);
  EXPECT_NE(shown.find("10/10  100%  loss 2.50000"), std::string::npos) << shown;
  EXPECT_TRUE(shown.ends_with('\n'));
  EXPECT_EQ(shown.find("\x1b[1m"), std::string::npos) << "colours are for terminals";
}

TEST_F(LoggerTest, LibTorchIsNotLoaded) {
  const std::string libraries = read_file("/proc/self/maps");
  EXPECT_NE(libraries.find("logger.so"), std::string::npos);
  EXPECT_EQ(libraries.find("libtorch"), std::string::npos);
}

TEST_F(LoggerTest, ADirectoryThatCannotBeMadeIsSaidAtOnce) {
  testing::write_file(directory_ / "file", "");
  rig_.add<Logger>("logger", R"({"directory": ")" + (directory_ / "file/runs") + R"("})");
  EXPECT_THROW(rig_.start(), Error);
}

TEST_F(LoggerTest, AnUnknownConsoleIsRefused) {
  EXPECT_THROW(rig_.add<Logger>("logger", R"({"console": "loud"})"), Error);
}

}  // namespace
}  // namespace trainyard
