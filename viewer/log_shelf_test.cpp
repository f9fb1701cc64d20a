// SPDX-License-Identifier: Apache-2.0
#include "viewer/log_shelf.h"

#include <gmock/gmock.h>

namespace trainyard::viewer {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

LogRecord record(std::int64_t time_us, const std::string& text, LogLevel level = LogLevel::kInfo) {
  return {time_us * 1000, level, "optimizer", text};
}

std::vector<std::string> texts(const json& records) {
  std::vector<std::string> list;
  for (const json& each : records) list.push_back(each.at("text"));
  return list;
}

TEST(LogShelfTest, TheLogCanBeReadInPagesAndFiltered) {
  LogShelf shelf;
  for (int i = 0; i < 10; ++i) {
    shelf.add(record(i, "line " + std::to_string(i), i % 5 == 4 ? LogLevel::kWarning : LogLevel::kInfo));
  }
  EXPECT_FALSE(shelf.add(record(3, "line 3"))) << "it has been told already";
  const json last = shelf.find({.limit = 3});
  EXPECT_THAT(texts(last["records"]), ElementsAre("line 7", "line 8", "line 9"));
  EXPECT_EQ(last["total"], 10);
  EXPECT_THAT(texts(shelf.find({.before = 7, .limit = 2})["records"]), ElementsAre("line 5", "line 6"));
  EXPECT_THAT(texts(shelf.find({.level = LogLevel::kWarning})["records"]), ElementsAre("line 4", "line 9"));
  EXPECT_THAT(texts(shelf.find({.text = "INE 2"})["records"]), ElementsAre("line 2"));
  EXPECT_THAT(texts(shelf.find({.component = "logger"})["records"]), ElementsAre());
}

TEST(LogShelfTest, ARecordFromTheFileIsTheOneThatCameAsAMessage) {
  LogShelf shelf;
  LogRecord message = record(1, "one\x1b[2J");
  message.time_ns += 999;
  EXPECT_TRUE(shelf.add(message));
  EXPECT_FALSE(shelf.add(record(1, "one\x1b[2J"))) << "the file has microseconds";
  EXPECT_THAT(texts(shelf.find({})["records"]), ElementsAre("one?[2J"));
}

TEST(LogShelfTest, TheOldestRecordsAreForgotten) {
  LogShelf shelf;
  for (std::size_t i = 0; i < LogShelf::kMaxRecords + 2; ++i) shelf.add(record(static_cast<std::int64_t>(i), "line"));
  const json oldest = shelf.find({.before = 3});
  ASSERT_EQ(oldest["records"].size(), 1u);
  EXPECT_EQ(oldest["records"][0]["number"], 2);
  EXPECT_EQ(oldest["total"], LogShelf::kMaxRecords + 2);
}

}  // namespace
}  // namespace trainyard::viewer
