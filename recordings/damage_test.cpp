// SPDX-License-Identifier: Apache-2.0
// Tests with files that are cut off, damaged or hostile.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "recordings/compression.h"
#include "recordings/limits.h"
#include "recordings/repair.h"
#include "recordings/testing/files.h"

namespace trainyard::recordings {
namespace {

using testing::error_of;
using testing::Read;
using testing::read_file;
using testing::read_messages;
using testing::TemporaryDirectory;
using testing::write_file;
using testing::write_sample;

/// Returns true if `whole` begins with the messages in `part`.
bool is_beginning(const std::vector<Read>& part, const std::vector<Read>& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

TEST(RepairTest, KeepsEveryWholeChunkOfAFileThatIsCutOffAnywhere) {
  const TemporaryDirectory folder;
  write_sample(folder / "whole.mcap", 60);
  const std::string bytes = read_file(folder / "whole.mcap");
  const std::vector<Read> all = read_messages(folder / "whole.mcap");
  std::size_t kept = 0;
  for (std::size_t size = kMagic.size(); size < bytes.size(); size += 11) {
    write_file(folder / "cut.mcap", bytes.substr(0, size));
    std::filesystem::remove(folder / "new.mcap");
    const Repaired repaired = repair(folder / "cut.mcap", folder / "new.mcap");
    EXPECT_GT(repaired.damage.all_findings, 0u);
    const std::vector<Read> read = read_messages(folder / "new.mcap");
    EXPECT_TRUE(is_beginning(read, all)) << size;
    EXPECT_EQ(read.size(), repaired.messages);
    EXPECT_GE(read.size(), kept) << size;
    kept = read.size();
    EXPECT_EQ(scan(InputFile(folder / "new.mcap")).all_findings, 0u) << size;
  }
  EXPECT_EQ(kept, 60u);
}

TEST(RepairTest, LosesOnlyTheChunkThatIsDamaged) {
  const TemporaryDirectory folder;
  write_sample(folder / "whole.mcap", 60);
  const std::vector<Chunk> chunks = McapReader(folder / "whole.mcap").contents().chunks;
  ASSERT_GT(chunks.size(), 3u);
  const std::string bytes = read_file(folder / "whole.mcap");
  // The test damages the content of the third chunk, and then its length, without which the next record cannot be
  // found.
  for (const std::uint64_t place : {chunks[2].index.length / 2, std::uint64_t{6}}) {
    std::string damaged = bytes;
    damaged[chunks[2].index.offset + place] ^= 0x55;
    write_file(folder / "damaged.mcap", damaged);
    std::filesystem::remove(folder / "new.mcap");
    const Repaired repaired = repair(folder / "damaged.mcap", folder / "new.mcap");
    EXPECT_EQ(repaired.damage.contents.chunks.size(), chunks.size() - 1);
    EXPECT_GT(repaired.damage.lost_bytes, 0u);
    const std::vector<Read> read = read_messages(folder / "new.mcap");
    EXPECT_EQ(read.back().log_time, 5900u);
    EXPECT_TRUE(std::ranges::none_of(read, [&](const Read& message) {
      return message.log_time >= chunks[2].index.start_time && message.log_time <= chunks[2].index.end_time;
    }));
    EXPECT_EQ(scan(InputFile(folder / "new.mcap")).all_findings, 0u);
  }
}

// The effect of a random mutation is not known. So the test requires only that the functions throw nothing but an
// Error, and that repair() writes an undamaged file. Sanitizers detect other errors.
TEST(HostileFileTest, SurvivesMutatedFiles) {
  const TemporaryDirectory folder;
  write_sample(folder / "whole.mcap", 60);
  const std::string bytes = read_file(folder / "whole.mcap");
  std::mt19937 random(1);
  int repaired = 0;
  for (int round = 0; round < 500; ++round) {
    std::string mutated = bytes;
    for (int i = 0; i < 1 + round % 4; ++i) {
      const std::size_t at = random() % mutated.size();
      switch (random() % 4) {
        case 0:
          mutated[at] = static_cast<char>(random());
          break;
        case 1:
          mutated.replace(at, 8, std::string(8, '\xff'));
          break;
        case 2:
          mutated.erase(at, random() % 40);
          break;
        default:
          mutated.insert(at, mutated.substr(random() % mutated.size(), random() % 200));
      }
    }
    write_file(folder / "mutated.mcap", mutated);
    std::filesystem::remove(folder / "new.mcap");
    error_of([&] { read_messages(folder / "mutated.mcap"); });
    if (error_of([&] { repair(folder / "mutated.mcap", folder / "new.mcap"); }).empty()) {
      ++repaired;
      EXPECT_EQ(scan(InputFile(folder / "new.mcap")).all_findings, 0u) << round;
    }
  }
  EXPECT_GT(repaired, 300);
}

TEST(HostileFileTest, DoesNotBelieveTheSizeThatAChunkClaims) {
  const std::string zeros(1 << 20, '\0');
  Compressor compressor(1);
  const std::string small(compressor.compress(zeros));
  EXPECT_EQ(decompress("zstd", small, zeros.size()), zeros);
  EXPECT_EQ(error_of([&] { decompress("zstd", small, zeros.size() + 1); }),
            "a chunk has 1048576 bytes and claims 1048577");
  EXPECT_EQ(error_of([&] { decompress("zstd", small, zeros.size() - 1); }),
            "a chunk does not have the 1048575 bytes that it claims");
  EXPECT_EQ(error_of([&] { decompress("zstd", small, kMostChunkBytes + 1); }),
            "a chunk claims 268435457 bytes; at most 268435456 are allowed");
  EXPECT_EQ(error_of([&] { decompress("zstd", "rubbish", 100); }).substr(0, 23), "a chunk is no zstd: Unk");
  EXPECT_EQ(error_of([&] { decompress("", "abc", 4); }), "a chunk has 3 bytes and claims 4");
  EXPECT_EQ(error_of([&] { decompress("lz4", "abc", 3); }), "a chunk is compressed with 'lz4'; only zstd is supported");
}

TEST(HostileFileTest, NoticesAnIndexThatDoesNotFitTheContent) {
  const TemporaryDirectory folder;
  std::string bytes(kMagic);
  append(bytes, FileHeader{});
  std::string records;
  append(records, ChannelRecord{.id = 1, .topic = "/a", .encoding = "json"});
  const std::uint64_t offset = records.size();
  append(records, MessageRecord{1, 0, 5, 0, "{}"});
  append(bytes, ChunkRecord{5, 5, records.size(), crc32_of(records), "", records});
  append(bytes, MessageIndex{1, {{5, offset + 1}}});
  append(bytes, DataEnd{});
  const std::uint64_t summary = bytes.size();
  append(bytes, Statistics{.messages = 2, .channels = 1, .chunks = 1, .start_time = 5, .end_time = 5});
  append(bytes, ChunkIndex{.start_time = 5, .end_time = 5, .offset = 1000});
  append(bytes, Footer{.summary_start = summary});
  bytes += kMagic;
  write_file(folder / "a.mcap", bytes);
  std::vector<std::string> texts;
  for (const Finding& finding : scan(InputFile(folder / "a.mcap")).findings) texts.push_back(finding.text);
  EXPECT_EQ(texts, (std::vector<std::string>{"the index of the messages of a chunk is wrong",
                                             "the index names a chunk at byte 1000, where none could be read",
                                             "the statistics do not fit the content"}));
}

}  // namespace
}  // namespace trainyard::recordings
