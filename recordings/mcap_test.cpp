// SPDX-License-Identifier: Apache-2.0
// Tests the writer and the reader together. Whether the files comply with the specification is tested with other
// readers, which share no code with Trainyard (tests/recordings_readers).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recordings/scan.h"
#include "recordings/testing/files.h"

namespace trainyard::recordings {
namespace {

using testing::error_of;
using testing::Read;
using testing::read_messages;
using testing::TemporaryDirectory;
using testing::write_sample;

std::vector<std::string> findings_of(const std::string& path) {
  std::vector<std::string> texts;
  for (const Finding& finding : scan(InputFile(path)).findings) texts.push_back(finding.text);
  return texts;
}

TEST(McapTest, ReadsByTheIndexWhatWasWritten) {
  const TemporaryDirectory folder;
  write_sample(folder / "a.mcap", 100);
  const McapReader reader(folder / "a.mcap");
  EXPECT_EQ(reader.problem(), "");
  const Contents& contents = reader.contents();
  EXPECT_EQ(contents.header.library, "test");
  EXPECT_EQ(contents.schemas.at(1), (SchemaRecord{1, "Number", "jsonschema", R"({"type":"object"})"}));
  EXPECT_EQ(contents.channels.at(1), (ChannelRecord{1, 1, "/a", "json", {{"x", "y"}}}));
  EXPECT_EQ(contents.channels.at(2).topic, "/b");
  EXPECT_EQ(contents.find_metadata("facts")->at("key"), "value");
  EXPECT_EQ(contents.find_metadata("other"), nullptr);
  EXPECT_EQ(contents.statistics.messages, 100u);
  EXPECT_EQ(contents.statistics.channel_messages.at(2), 50u);
  EXPECT_EQ(contents.statistics.end_time, 9900u);
  EXPECT_GT(contents.chunks.size(), 5u);

  const std::vector<Read> all = read_messages(folder / "a.mcap");
  ASSERT_EQ(all.size(), 100u);
  EXPECT_EQ(all[7], (Read{"/b", 3, 700, 693, R"({"n":7})"}));
  EXPECT_EQ(all[99], (Read{"/b", 49, 9900, 9893, R"({"n":99})"}));
}

TEST(McapTest, SelectsTopicsAndTimes) {
  const TemporaryDirectory folder;
  write_sample(folder / "a.mcap", 100);
  const auto only_b = [](const ChannelRecord& channel) { return channel.topic == "/b"; };
  const std::vector<Read> some = read_messages(folder / "a.mcap", {only_b, 2000, 3000});
  ASSERT_EQ(some.size(), 5u);
  EXPECT_EQ(some.front().log_time, 2100u);
  EXPECT_EQ(some.back().log_time, 2900u);
  EXPECT_TRUE(read_messages(folder / "a.mcap", {.start = 10'000}).empty());
}

TEST(McapTest, OrdersMessagesByTimeEvenIfChunksOverlap) {
  const TemporaryDirectory folder;
  McapWriter writer(folder / "a.mcap", {}, {.chunk_bytes = 100});
  const auto channel = writer.add(ChannelRecord{.topic = "/a", .encoding = "json"});
  std::vector<std::uint64_t> times;
  for (std::uint32_t n = 0; n < 60; ++n) {
    times.push_back(n * 37 % 61);
    writer.write(MessageRecord{channel, n, times.back(), 0, "{}"});
  }
  writer.close();
  std::ranges::sort(times);
  std::vector<std::uint64_t> read;
  for (const Read& message : read_messages(folder / "a.mcap")) read.push_back(message.log_time);
  EXPECT_EQ(read, times);
}

TEST(McapTest, ReadsAFileWithoutMessages) {
  const TemporaryDirectory folder;
  McapWriter(folder / "a.mcap", {}).close();
  EXPECT_TRUE(read_messages(folder / "a.mcap").empty());
  EXPECT_EQ(findings_of(folder / "a.mcap"), std::vector<std::string>());
}

TEST(McapTest, ReadsMessagesThatAreInNoChunk) {
  const TemporaryDirectory folder;
  std::string bytes(kMagic);
  append(bytes, FileHeader{});
  append(bytes, ChannelRecord{.id = 3, .topic = "/a", .encoding = "json"});
  append(bytes, MessageRecord{3, 0, 20, 0, "second"});
  append(bytes, MessageRecord{3, 0, 10, 0, "first"});
  append(bytes, Metadata{"between", {}});
  append(bytes, MessageRecord{3, 0, 30, 0, "third"});
  append(bytes, DataEnd{});
  append(bytes, Footer{});
  bytes += kMagic;
  testing::write_file(folder / "a.mcap", bytes);
  const std::vector<Read> all = read_messages(folder / "a.mcap");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].data + " " + all[1].data + " " + all[2].data, "first second third");
  EXPECT_EQ(findings_of(folder / "a.mcap"), std::vector<std::string>());
}

TEST(McapTest, FindsNothingWrongInAWholeFile) {
  const TemporaryDirectory folder;
  write_sample(folder / "a.mcap", 100);
  EXPECT_EQ(findings_of(folder / "a.mcap"), std::vector<std::string>());
}

TEST(McapTest, ReadsAFileWhoseWriterWasKilled) {
  const TemporaryDirectory folder;
  write_sample(folder / "a.mcap", 100, false);
  const McapReader reader(folder / "a.mcap");
  EXPECT_THAT(reader.problem(), ::testing::HasSubstr("its writer was interrupted"));
  EXPECT_EQ(reader.contents().statistics.messages, 100u);
  EXPECT_EQ(read_messages(folder / "a.mcap").size(), 100u);
}

TEST(McapTest, ReadsAllFromTheBeginningIfTheSummaryIsDamaged) {
  const TemporaryDirectory folder;
  write_sample(folder / "a.mcap", 100);
  std::string bytes = testing::read_file(folder / "a.mcap");
  bytes[bytes.size() - 40] ^= 1;
  testing::write_file(folder / "b.mcap", bytes);
  EXPECT_THAT(McapReader(folder / "b.mcap").problem(), ::testing::HasSubstr("the checksum of its summary is"));
  EXPECT_EQ(read_messages(folder / "b.mcap").size(), 100u);
}

TEST(McapTest, DoesNotOverwriteAFile) {
  const TemporaryDirectory folder;
  testing::write_file(folder / "a.mcap", "precious");
  EXPECT_EQ(error_of([&] { McapWriter(folder / "a.mcap", {}); }),
            "cannot create " + (folder / "a.mcap") + ": File exists");
  EXPECT_EQ(testing::read_file(folder / "a.mcap"), "precious");
}

TEST(McapTest, NamesWhatIsNoMcapFile) {
  const TemporaryDirectory folder;
  testing::write_file(folder / "a.mcap", "anything else");
  EXPECT_EQ(error_of([&] { McapReader(folder / "a.mcap"); }),
            (folder / "a.mcap") + " is no MCAP file: it does not begin with the bytes of one");
  EXPECT_EQ(error_of([&] { McapReader(folder / "none"); }),
            "cannot open " + (folder / "none") + ": No such file or directory");
  EXPECT_EQ(error_of([&] { McapReader("/dev/null"); }), "/dev/null is not a regular file");
}

TEST(McapTest, WritesAChunkWhenItsFirstMessageIsOldEnough) {
  const TemporaryDirectory folder;
  McapWriter writer(folder / "a.mcap", {});
  const auto channel = writer.add(ChannelRecord{.topic = "/a", .encoding = "json"});
  const auto begun = McapWriter::Clock::now();
  writer.write(MessageRecord{channel, 0, 1, 0, "{}"});
  writer.flush_if_due(begun + std::chrono::milliseconds(900));
  EXPECT_EQ(writer.chunks(), 0u);
  writer.flush_if_due(begun + std::chrono::hours(1));
  EXPECT_EQ(writer.chunks(), 1u);
}

}  // namespace
}  // namespace trainyard::recordings
