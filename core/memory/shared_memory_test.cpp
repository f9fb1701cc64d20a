// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "core/memory/shared_imports.h"
#include "core/memory/shared_pool.h"
#include "messages/error.h"

namespace trainyard::core {
namespace {

constexpr std::uint32_t kReader = 3;

TEST(SharedPoolTest, AReleasedBufferIsUsedAgain) {
  SharedPool pool;
  const std::byte* first = pool.allocate(10'000).data();
  EXPECT_EQ(pool.allocate(12'000).data(), first) << "same size class";
  const Buffer kept = pool.allocate(10'000);
  EXPECT_NE(pool.allocate(10'000).data(), kept.data());
}

TEST(SharedPoolTest, ABufferLentToAReaderIsNotUsedAgainUntilTheReaderLetsGo) {
  SharedPool pool;
  SharedImports imports(kReader);
  Buffer buffer = pool.allocate(4096);
  const std::byte* address = buffer.data();
  std::memcpy(buffer.data(), "hello", 6);
  SharedPool::lend(buffer, kReader);
  const SharedHandle handle = *buffer.shared();
  buffer = {};
  EXPECT_NE(pool.allocate(4096).data(), address);
  {
    const Buffer read = imports.open(handle);
    EXPECT_STREQ(reinterpret_cast<const char*>(read.data()), "hello");
    EXPECT_EQ(read.size(), 4096u);
  }
  EXPECT_EQ(pool.allocate(4096).data(), address);
}

TEST(SharedPoolTest, WhatABurstHasAddedIsGivenBackWhileASteadyStreamKeepsItsSegment) {
  SharedPool pool;
  const std::byte* steady = pool.allocate(4096).data();
  const std::size_t before = pool.reserved_bytes();
  std::vector<Buffer> burst;
  for (int i = 0; i < 50; ++i) burst.push_back(pool.allocate(4096));
  EXPECT_GT(pool.reserved_bytes(), 40 * before);
  pool.trim();
  burst.clear();
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 40; ++i) EXPECT_EQ(pool.allocate(4096).data(), steady);
    pool.trim();
  }
  EXPECT_EQ(pool.reserved_bytes(), before);
}

TEST(SharedPoolTest, ASlowStreamKeepsItsSegments) {
  SharedPool pool;
  const std::byte* steady = pool.allocate(4096).data();
  for (int i = 0; i < 10; ++i) pool.trim();
  EXPECT_EQ(pool.allocate(4096).data(), steady);
}

TEST(SharedImportsTest, MappingsThatAreNotUsedAnyMoreAreForgotten) {
  SharedPool pool;
  SharedImports imports(kReader);
  const auto mapped = [] {
    std::ifstream maps("/proc/self/maps");
    int found = 0;
    for (std::string line; std::getline(maps, line);) found += line.find("memfd:trainyard") != std::string::npos;
    return found;
  };
  const auto send = [&](const Buffer& buffer) {
    SharedPool::lend(buffer, kReader);
    imports.open(*buffer.shared());
  };
  const int before = mapped();
  {
    std::vector<Buffer> burst;
    for (int i = 0; i < 50; ++i) burst.push_back(pool.allocate(4096));
    for (const Buffer& buffer : burst) send(buffer);
  }
  EXPECT_EQ(mapped(), before + 100) << "each is mapped by its owner and by its reader";
  for (int i = 0; i < 400; ++i) send(pool.allocate(4096));
  EXPECT_EQ(mapped(), before + 51);
}

TEST(SharedPoolTest, ForgettingADeadReaderGivesItsBuffersBack) {
  SharedPool pool;
  Buffer buffer = pool.allocate(4096);
  const std::byte* address = buffer.data();
  SharedPool::lend(buffer, kReader);
  SharedPool::lend(buffer, kReader);
  buffer = {};
  EXPECT_NE(pool.allocate(4096).data(), address);
  pool.forget(kReader, 0);
  EXPECT_EQ(pool.allocate(4096).data(), address);
}

TEST(SharedPoolTest, AProcessThatWasStartedAgainKeepsWhatItReadsWhenTheDeathIsReportedLate) {
  SharedPool pool;
  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(dead, nullptr, 0), dead);
  const auto lend = [&] {
    const Buffer buffer = pool.allocate(4096);
    SharedPool::lend(buffer, kReader);
    return buffer.data();
  };
  pool.admit(kReader, dead);
  const std::byte* first = lend();
  pool.admit(kReader, ::getpid());
  EXPECT_EQ(lend(), first) << "the dead process holds nothing any longer";
  pool.admit(kReader, ::getpid());
  pool.forget(kReader, dead);
  EXPECT_NE(pool.allocate(4096).data(), first) << "the new one reads it";
}

TEST(SharedPoolTest, AnotherProcessWritesToAnArenaThatThisOneSees) {
  SharedPool pool;
  const Buffer arena = pool.allocate_permanent(1 << 20);
  for (const std::byte byte : arena.bytes()) ASSERT_EQ(byte, std::byte{0});
  const SharedHandle handle = *arena.shared();
  const pid_t child = ::fork();
  if (child == 0) {
    SharedImports imports(kReader);
    imports.open(handle).bytes()[12345] = std::byte{42};
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(arena.bytes()[12345], std::byte{42});
}

TEST(SharedPoolTest, BuffersOutliveTheirPool) {
  Buffer buffer;
  {
    SharedPool pool;
    buffer = pool.allocate(100);
  }
  std::memset(buffer.data(), 1, buffer.size());
}

TEST(SharedImportsTest, RefusesHandlesThatDoNotFitTheMemoryTheyName) {
  SharedPool pool;
  SharedImports imports(kReader);
  const Buffer buffer = pool.allocate(4096);
  const auto refused = [&](auto change, Code code) {
    SharedHandle handle = *buffer.shared();
    change(handle);
    try {
      imports.open(handle);
      return false;
    } catch (const Error& error) {
      return error.code() == code;
    }
  };
  EXPECT_TRUE(refused([](SharedHandle& h) { h.offset = ~0ull; }, Code::kCorrupt));
  EXPECT_TRUE(refused([](SharedHandle& h) { h.bytes = h.segment_bytes; }, Code::kCorrupt));
  EXPECT_TRUE(refused([](SharedHandle& h) { h.offset = 8; }, Code::kCorrupt)) << "inside the counts";
  EXPECT_TRUE(refused([](SharedHandle& h) { h.inode += 1; }, Code::kPeerLost));
  EXPECT_TRUE(refused([](SharedHandle& h) { h.segment_bytes += 4096; }, Code::kCorrupt));
  EXPECT_TRUE(refused([](SharedHandle& h) { h.fd = 9999; }, Code::kPeerLost));
}

}  // namespace
}  // namespace trainyard::core
