// SPDX-License-Identifier: Apache-2.0
#include "viewer/recorded_run.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <limits>
#include <optional>

#include "core/testing/error_of.h"
#include "core/testing/temporary_folder.h"
#include "messages/message_type.h"
#include "messages/metrics.h"
#include "messages/prediction.h"
#include "recordings/recorder.h"
#include "viewer/library.h"

namespace trainyard::viewer {
namespace {

using nlohmann::json;
using recordings::Recorder;
using ::testing::HasSubstr;

constexpr const char* kComponents = R"([
    {"component": "host", "plugin": "accelerator_host", "process": "main", "rank": 0,
     "inputs": [], "outputs": ["/metrics", "/log"]},
    {"component": "logger", "plugin": "logger", "process": "io", "rank": 0,
     "inputs": ["/metrics", "/log"], "outputs": []}])";

class RecordedRunTest : public ::testing::Test {
 protected:
  /// Records messages of component 0, one for each second.
  class Recording {
   public:
    explicit Recording(const std::string& path, const std::string& components = kComponents,
                       std::uint64_t max_bytes = 0)
        : recorder_({.path = path,
                     .run = {{"run", "mnist-9ix"},
                             {"name", "mnist"},
                             {"launch file", "mnist.toml"},
                             {recordings::kComponentsKey, components}},
                     .max_bytes = max_bytes,
                     .component_name = [](std::uint32_t) { return "host"; }}) {}

    template <class T>
    void send(const std::string& topic, const T& message) {
      auto& feed = feeds_[topic];
      const MessageType& type = message_type<T>();
      if (feed == nullptr) {
        feed = std::make_shared<const recordings::Feed>(
            recordings::Feed{topic, "main", type.schema_text, parse_schema(type.schema_text)});
      }
      std::string body;
      std::vector<Buffer> payloads;
      encode(message, body, payloads);
      recorder_.take({feed, {.sequence = sequences_[topic]++}, std::as_bytes(std::span(body)), {}, ++time_ * kSecond});
    }
    void train(std::uint64_t step, double loss) {
      send("/metrics", Metrics{.step = step,
                               .total_steps = 10,
                               .stage = "train",
                               .time_ns = static_cast<std::int64_t>(step * kSecond),
                               .values = {{"loss", loss}}});
    }
    void miss(const std::string& topic) { ++sequences_[topic]; }
    void rotate() { recorder_.tick(Recorder::Clock::now() + std::chrono::seconds(5)); }
    void finish() { recorder_.finish("the run has ended"); }

   private:
    static constexpr std::uint64_t kSecond = 1'000'000'000;

    Recorder recorder_;
    std::map<std::string, std::shared_ptr<const recordings::Feed>> feeds_;
    std::map<std::string, std::uint64_t> sequences_;
    std::uint64_t time_ = 0;
  };

  json run_of(const std::string& path) {
    library_.open_recording(path);
    return library_.all().front().book->read(&Shelves::summary);
  }

  trainyard::testing::TemporaryFolder folder_;
  const std::string path_ = folder_.path("run.mcap");
  Library library_{[](const Identity&, const Alert&) {}};
  Book book_{Identity{.run = "mnist-9ix"}};
};

TEST_F(RecordedRunTest, ShowsCurvesLogPredictionsAndAlertsFromTheMessages) {
  Recording recording(path_);
  recording.train(1, 2.5);
  recording.train(2, std::numeric_limits<double>::quiet_NaN());
  recording.send("/log", LogRecord{3, LogLevel::kWarning, "host", "slow"});
  recording.send("/predictions", Prediction{.step = 2, .title = "text", .text = "To be", .tensors = {}});
  recording.finish();
  RecordedRun(path_).read(book_, {});
  EXPECT_EQ(book_.read(&Shelves::curves).list()[0]["rows"], 2);
  EXPECT_EQ(book_.read(&Shelves::curves).total_steps(), 10);
  EXPECT_EQ(book_.read(&Shelves::log).find({})["records"][0]["text"], "slow");
  EXPECT_EQ(book_.read(&Shelves::samples).list({}, 1)[0]["text"], "To be");
  EXPECT_EQ(book_.read(&Shelves::alerts).list()[0]["text"], "train/loss is not a number at step 2");
}

TEST_F(RecordedRunTest, SaysWhatItIsAndWhatItLacks) {
  Recording recording(path_);
  recording.train(1, 1);
  recording.miss("/metrics");
  recording.train(3, 1);
  recording.finish();
  const json run = run_of(path_);
  EXPECT_EQ(run["run"], "mnist-9ix");
  EXPECT_EQ(run["file"], "mnist.toml");
  EXPECT_EQ(run["state"], "recording");
  EXPECT_EQ(run["source"], "recording");
  EXPECT_EQ(run["live"], false);
  EXPECT_EQ(run["message"], "the run has ended; 1 message was missed");
}

TEST_F(RecordedRunTest, TheGraphHasTheComponentsOfTheRunAndTheMeanRates) {
  Recording recording(path_);
  for (std::uint64_t step = 1; step <= 5; ++step) recording.train(step, 1);
  recording.finish();
  const json graph = RecordedRun(path_).graph();
  ASSERT_EQ(graph["components"].size(), 2u);
  EXPECT_EQ(graph["components"][1]["process"], "io");
  ASSERT_EQ(graph["edges"].size(), 2u);
  EXPECT_EQ(graph["edges"][0]["topic"], "/metrics");
  EXPECT_EQ(graph["edges"][0]["from"], "host");
  EXPECT_EQ(graph["edges"][0]["to"], "logger");
  EXPECT_EQ(graph["edges"][0]["rate_hz"], 1.25) << "five messages in the four seconds from the first to the last";
  EXPECT_TRUE(graph["edges"][1]["rate_hz"].is_null()) << "nothing was logged";
  EXPECT_TRUE(graph["edges"][0]["dropped"].is_null()) << "a recording does not say it";
}

TEST_F(RecordedRunTest, ARecordingThatDoesNotNameTheComponentsShowsTheSenders) {
  Recording recording(path_, "");
  recording.train(1, 1);
  recording.finish();
  const json graph = RecordedRun(path_).graph();
  ASSERT_EQ(graph["components"].size(), 1u);
  EXPECT_EQ(graph["components"][0]["name"], "host");
  EXPECT_EQ(graph["edges"], json::array());
}

TEST_F(RecordedRunTest, ThePartsOfARecordingAreOneRun) {
  Recording recording(path_, kComponents, 1);
  for (std::uint64_t step = 1; step <= 3; ++step) {
    recording.train(step, 1);
    recording.rotate();
  }
  recording.finish();
  Recording other(folder_.path("run_5.mcap"));
  other.train(9, 1);
  other.finish();
  ASSERT_TRUE(std::filesystem::exists(folder_.path("run_3.mcap")));
  RecordedRun(path_).read(book_, {});
  EXPECT_EQ(book_.read(&Shelves::step), 3u) << "the file of another recorder is not a part";
}

TEST_F(RecordedRunTest, AFileThatIsNoRecordingOfARunIsRefused) {
  folder_.write("notes.mcap", "These are notes.");
  EXPECT_THAT(trainyard::testing::error_of([&] { library_.open_recording(folder_.path("notes.mcap")); }).second,
              HasSubstr("notes.mcap"));
  recordings::McapWriter(path_, {"", "another program"}).close();
  EXPECT_THAT(trainyard::testing::error_of([&] { library_.open_recording(path_); }).second,
              HasSubstr("was not recorded by Trainyard"));
  EXPECT_TRUE(library_.all().empty());
}

TEST_F(RecordedRunTest, ARecordingInTheOutputDirectoryGivesThePastRunItsGraphAndWhatTheLoggerHasNotWritten) {
  archive::LaunchRecord launch{.number = 1, .run = "mnist-9ix", .state = archive::LaunchState::kEnded};
  folder_.write("out/launches/1/launch.json", archive::format_launch_record(launch));
  Recording recording(folder_.path("out/recording.mcap"));
  recording.train(7, 1);
  recording.finish();
  read_output_directory({.run = "mnist-9ix", .directory = folder_.path("out")}, book_, {});
  EXPECT_EQ(book_.read(&Shelves::graph).look()["components"].size(), 2u);
  EXPECT_EQ(book_.read(&Shelves::step), 7u);
  Book other(Identity{.run = "mnist-2ab"});
  read_output_directory({.run = "mnist-2ab", .directory = folder_.path("out")}, other, {});
  EXPECT_EQ(other.read(&Shelves::step), 0u) << "the recording is of another run";
}

TEST_F(RecordedRunTest, AFolderOfRecordingsCanBeOpened) {
  Recording recording(path_);
  recording.train(1, 1);
  recording.finish();
  library_.open_folder(folder_.path());
  ASSERT_EQ(library_.all().size(), 1u);
  EXPECT_EQ(library_.all().front().book->read(&Shelves::identity).run, "mnist-9ix");
}

TEST_F(RecordedRunTest, AFileThatCannotBeReadDoesNotHideTheOthersInItsFolder) {
  folder_.write("a.mcap", "These are notes.");
  Recording recording(path_);
  recording.train(1, 1);
  recording.finish();
  library_.open_folder(folder_.path());
  ASSERT_EQ(library_.all().size(), 2u);
  const json bad = library_.find(std::filesystem::canonical(folder_.path("a.mcap"))).book->read(&Shelves::summary);
  EXPECT_EQ(bad["state"], "unknown");
  EXPECT_THAT(bad["message"].get<std::string>(), HasSubstr("a.mcap"));
}

}  // namespace
}  // namespace trainyard::viewer
