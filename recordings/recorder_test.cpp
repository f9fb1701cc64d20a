// SPDX-License-Identifier: Apache-2.0
#include "recordings/recorder.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "messages/message_type.h"
#include "messages/metrics.h"
#include "recordings/message_text.h"
#include "recordings/repair.h"
#include "recordings/testing/files.h"

namespace trainyard::recordings {
namespace {

using testing::error_of;
using testing::read_messages;
using testing::TemporaryDirectory;

std::shared_ptr<const Feed> make_feed(std::string topic, const std::string& schema_text) {
  return std::make_shared<const Feed>(Feed{std::move(topic), "main", schema_text, parse_schema(schema_text)});
}

class RecorderTest : public ::testing::Test {
 protected:
  Recorder::Options options() const {
    return {.path = folder_ / "run.mcap", .run = {{"run", "mnist-9ix"}}, .component_name = [](std::uint32_t source) {
              return "component" + std::to_string(source);
            }};
  }

  void take(Recorder& recorder, const std::shared_ptr<const Feed>& feed, std::uint64_t sequence,
            std::uint32_t source = 0) {
    const std::uint64_t step = sequence;
    Header header;
    header.sequence = sequence;
    header.source = source;
    header.send_time_ns = static_cast<std::int64_t>(++time_);
    header.trace = 7;
    recorder.take({feed, header, std::as_bytes(std::span(&step, 1)), {}, time_ + 1000});
  }

  static Counts counts_of(const std::string& path) {
    return parse_counts(*McapReader(path).contents().find_metadata(kCountsMetadata));
  }

  const TemporaryDirectory folder_;
  const std::shared_ptr<const Feed> steps_ = make_feed("/steps", "Step {\n  u64 step\n}\n");
  std::uint64_t time_ = 0;
};

TEST_F(RecorderTest, RecordsMessagesWithTheirSourcesAndTimes) {
  Recorder recorder(options());
  take(recorder, steps_, 5, 2);
  take(recorder, steps_, 6, 3);
  recorder.finish("the run has ended");
  const McapReader reader(folder_ / "run.mcap");
  const auto& channels = reader.contents().channels;
  ASSERT_EQ(channels.size(), 2u);
  EXPECT_EQ(channels.at(2).topic, "/steps");
  EXPECT_EQ(channels.at(2).metadata, (TextMap{{"type", "Step"},
                                              {"fingerprint", fmt::format("{:016x}", fingerprint(steps_->schema_text))},
                                              {"schema", steps_->schema_text},
                                              {"component", "component3"},
                                              {"process", "main"},
                                              {"source", "3"}}));
  EXPECT_EQ(reader.contents().schemas.size(), 1u);
  EXPECT_EQ(reader.contents().find_metadata(kRunMetadata)->at("run"), "mnist-9ix");
  EXPECT_EQ(read_messages(folder_ / "run.mcap").front(),
            (testing::Read{"/steps", 5, 1001, 1, R"({"step":5,"_trace":"0000000000000007"})"}));
}

TEST_F(RecorderTest, CountsTheGapsOfEverySource) {
  Recorder recorder(options());
  for (const std::uint64_t sequence : {10, 11, 14, 15}) take(recorder, steps_, sequence, 0);  // 12 and 13 are missing.
  for (const std::uint64_t sequence : {3, 3, 4, 0, 1, 3})
    take(recorder, steps_, sequence, 1);  // One repeated message and one restart; 2 is missing.
  EXPECT_EQ(recorder.counts().topics.at("/steps").arrived, 10u);
  EXPECT_EQ(recorder.counts().topics.at("/steps").missed, 3u);
  recorder.finish("the run has ended");
  const Counts counts = counts_of(folder_ / "run.mcap");
  EXPECT_EQ(counts.missed(), 3u);
  EXPECT_FALSE(counts.complete());
  EXPECT_EQ(McapReader(folder_ / "run.mcap").contents().find_metadata(kCountsMetadata)->at("state"), "INCOMPLETE");
}

TEST_F(RecorderTest, IsCompleteIfNothingWasMissed) {
  Recorder recorder(options());
  for (std::uint64_t sequence = 0; sequence < 5; ++sequence) take(recorder, steps_, sequence);
  recorder.finish("the run has ended");
  EXPECT_TRUE(counts_of(folder_ / "run.mcap").complete());
  EXPECT_EQ(counts_of(folder_ / "run.mcap").ended, "the run has ended");
}

TEST_F(RecorderTest, BeginsANewFileWhenOneIsLargeAndDeletesTheOldest) {
  Recorder::Options limited = options();
  limited.max_bytes = 2000;
  limited.max_files = 2;
  Recorder recorder(limited);
  const auto begin = Recorder::Clock::now();
  for (std::uint64_t sequence = 0; sequence < 400; ++sequence) {
    take(recorder, steps_, sequence);
    if (sequence % 10 == 9) recorder.tick(begin + std::chrono::hours(1));
  }
  recorder.finish("the run has ended");
  const std::uint64_t last = recorder.files();
  EXPECT_GT(last, 3u);
  EXPECT_FALSE(std::filesystem::exists(part_path(folder_ / "run.mcap", last - 2)));
  std::size_t messages = 0;
  for (const std::uint64_t part : {last - 1, last}) {
    const std::string path = part_path(folder_ / "run.mcap", part);
    EXPECT_EQ(scan(InputFile(path)).all_findings, 0u);
    EXPECT_TRUE(counts_of(path).complete());
    messages += read_messages(path).size();
    EXPECT_EQ(counts_of(path).arrived(), read_messages(path).size());
  }
  EXPECT_GT(messages, 20u);
  EXPECT_EQ(recorder.counts().arrived(), 400u);
}

TEST_F(RecorderTest, CountsWhatWasSentBeforeTheFirstMessageIfItListensFromTheStart) {
  Recorder::Options early = options();
  early.from_start = true;
  Recorder recorder(early);
  for (const std::uint64_t sequence : {3, 4}) take(recorder, steps_, sequence, 0);
  take(recorder, steps_, 0, 1);
  EXPECT_EQ(recorder.counts().missed(), 3u);
}

TEST_F(RecorderTest, TakesTheNextNumberIfTheFileExists) {
  testing::write_file(folder_ / "run.mcap", "precious");
  EXPECT_NE(error_of([&] { Recorder{options()}; }), "");
  Recorder::Options numbered = options();
  numbered.number_existing = true;
  Recorder recorder(numbered);
  EXPECT_EQ(recorder.path(), folder_ / "run_2.mcap");
  EXPECT_EQ(testing::read_file(folder_ / "run.mcap"), "precious");
}

TEST_F(RecorderTest, NamesTheFilesOfARecording) {
  EXPECT_EQ(part_path("runs/run.mcap", 1), "runs/run.mcap");
  EXPECT_EQ(part_path("runs/run.mcap", 12), "runs/run_12.mcap");
}

TEST_F(RecorderTest, KeepsPayloadsUpToTheLimit) {
  Recorder::Options limited = options();
  limited.max_payload_bytes = 4;
  Recorder recorder(limited);
  const std::uint64_t step = 1;
  for (const std::string_view payload : {"1234", "12345"}) {
    recorder.take({steps_, {}, std::as_bytes(std::span(&step, 1)), std::span(&payload, 1), 0});
  }
  recorder.finish("");
  const auto messages = read_messages(folder_ / "run.mcap");
  EXPECT_EQ(messages[0].data, R"({"step":1,"_payloads":["MTIzNA=="]})");
  EXPECT_EQ(messages[1].data, R"({"step":1})");
}

TEST_F(RecorderTest, LeavesWhatWasWrittenReadableWhenTheDiskIsFull) {
  struct rlimit old {};
  ::getrlimit(RLIMIT_FSIZE, &old);
  struct rlimit limit = old;
  limit.rlim_cur = 20'000;
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &limit);
  Recorder recorder(options());
  const auto late = Recorder::Clock::now() + std::chrono::hours(1);
  std::uint64_t sequence = 0;
  const std::string error = error_of([&] {
    for (; sequence < 1'000'000; ++sequence) {
      take(recorder, steps_, sequence);
      if (sequence % 100 == 99) recorder.tick(late);
    }
  });
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(error, "cannot write " + (folder_ / "run.mcap") + ": File too large");
  const auto messages = read_messages(folder_ / "run.mcap");
  EXPECT_GT(messages.size(), sequence - 200);
  const Repaired repaired = repair(folder_ / "run.mcap", folder_ / "new.mcap");
  EXPECT_EQ(repaired.messages, messages.size());
  EXPECT_EQ(repaired.damage.lost_bytes, 0u);
  EXPECT_EQ(counts_of(folder_ / "new.mcap").cut_short, "the recorder was interrupted");
}

TEST_F(RecorderTest, CountsGapsWhenARecordingIsRepaired) {
  {
    Recorder recorder(options());
    for (const std::uint64_t sequence : {1, 2, 5}) take(recorder, steps_, sequence);
    recorder.tick(Recorder::Clock::now() + std::chrono::hours(1));
  }  // Here the recorder is killed.
  repair(folder_ / "run.mcap", folder_ / "new.mcap");
  EXPECT_EQ(counts_of(folder_ / "new.mcap").arrived(), 3u);
  EXPECT_EQ(counts_of(folder_ / "new.mcap").missed(), 2u);
  EXPECT_FALSE(counts_of(folder_ / "new.mcap").complete());
}

}  // namespace
}  // namespace trainyard::recordings
