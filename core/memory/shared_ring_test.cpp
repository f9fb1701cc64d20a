// SPDX-License-Identifier: Apache-2.0
#include "core/memory/shared_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <string>
#include <thread>

#include "messages/error.h"

namespace trainyard::core {
namespace {

void write(SharedRing& ring, const std::string& record) {
  std::memcpy(ring.reserve(record.size()), record.data(), record.size());
  ring.commit();
}

std::string read(SharedRing& ring) {
  const auto front = ring.front();
  std::string record(reinterpret_cast<const char*>(front.data()), front.size());
  ring.pop();
  return record;
}

/// Returns record `n` of a series of records of very different sizes, all smaller than 900 bytes.
std::string record_number(std::uint32_t n) {
  std::mt19937 draw(n);
  return std::string(draw() % 900 + 1, static_cast<char>('a' + n % 26));
}

TEST(SharedRingTest, WhatIsWrittenHereIsReadThereInOrder) {
  SharedRing reader = SharedRing::make(4096);
  SharedRing writer = SharedRing::open(reader.handle());
  EXPECT_TRUE(reader.empty());
  EXPECT_TRUE(reader.front().empty());
  write(writer, "one");
  write(writer, "and another");
  EXPECT_FALSE(reader.empty());
  EXPECT_EQ(read(reader), "one");
  EXPECT_EQ(read(reader), "and another");
  EXPECT_TRUE(reader.empty());
}

TEST(SharedRingTest, RoomShrinksWithWhatLiesInItAndComesBack) {
  SharedRing reader = SharedRing::make(4096);
  SharedRing writer = SharedRing::open(reader.handle());
  EXPECT_EQ(writer.room(), 4096u - 8u) << "a record has its length in front";
  write(writer, std::string(1000, 'x'));
  EXPECT_EQ(writer.room(), 4096u - 1008u - 8u);
  write(writer, std::string(4096 - 1008 - 8, 'y'));
  EXPECT_EQ(writer.room(), 0u);
  read(reader);
  EXPECT_EQ(writer.room(), 1000u);
}

TEST(SharedRingTest, RecordsThatWrapAroundStayWhole) {
  SharedRing reader = SharedRing::make(4096);
  SharedRing writer = SharedRing::open(reader.handle());
  for (std::uint32_t n = 0; n < 1000; ++n) {
    write(writer, record_number(n));
    ASSERT_EQ(read(reader), record_number(n)) << "record " << n;
  }
}

TEST(SharedRingTest, AnotherProcessReadsWhileThisOneWrites) {
  constexpr std::uint32_t kRecords = 20000;
  SharedRing writer = SharedRing::make(4096);
  const SharedHandle handle = writer.handle();
  const pid_t child = ::fork();
  if (child == 0) {
    SharedRing reader = SharedRing::open(handle);
    for (std::uint32_t n = 0; n < kRecords; ++n) {
      while (reader.empty()) std::this_thread::yield();
      if (read(reader) != record_number(n)) ::_exit(1);
      reader.return_credit(1);
    }
    ::_exit(0);
  }
  for (std::uint32_t n = 0; n < kRecords; ++n) {
    const std::string record = record_number(n);
    while (writer.room() < record.size()) std::this_thread::yield();
    write(writer, record);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "a record differed";
  EXPECT_EQ(writer.returned_messages(), kRecords);
  EXPECT_EQ(writer.returned_bytes(), kRecords);
}

TEST(SharedRingTest, TheReaderLearnsThatCreditIsWanted) {
  SharedRing reader = SharedRing::make(4096);
  SharedRing writer = SharedRing::open(reader.handle());
  EXPECT_FALSE(reader.return_credit(10));
  writer.want_credit(true);
  EXPECT_TRUE(reader.return_credit(20));
  EXPECT_EQ(writer.returned_messages(), 2u);
  EXPECT_EQ(writer.returned_bytes(), 30u);
  writer.want_credit(false);
  EXPECT_FALSE(reader.credit_wanted());
}

TEST(SharedRingTest, ALengthThatDoesNotFitIsRefused) {
  SharedRing reader = SharedRing::make(4096);
  SharedRing writer = SharedRing::open(reader.handle());
  std::byte* record = writer.reserve(8);
  const std::uint64_t nonsense = 1ull << 40;
  std::memcpy(record - sizeof nonsense, &nonsense, sizeof nonsense);
  writer.commit();
  try {
    reader.front();
    FAIL() << "the record was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kCorrupt);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("with a record of 1099511627776"));
  }
}

TEST(SharedRingTest, OnlyARingIsOpenedAsARing) {
  EXPECT_THROW(SharedRing::make(5000), Error) << "not a power of two";
  SharedHandle handle = SharedRing::make(4096).handle();
  EXPECT_THROW(SharedRing::open(handle), Error) << "its maker has closed it";
  handle.segment_bytes = 4096 + 5000;
  EXPECT_THROW(SharedRing::open(handle), Error) << "no ring has that size";
}

}  // namespace
}  // namespace trainyard::core
