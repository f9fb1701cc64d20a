// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <functional>

#include "devices/test_device/test_device.h"
#include "messages/error.h"

namespace trainyard::test_device {
namespace {

using devices::HostRegion;
using devices::Purpose;
using devices::Region;

constexpr std::chrono::milliseconds kLimit{20'000};

/// A pipe between the two processes. In a run, messages would carry the handles that the test sends through it.
class Pipe {
 public:
  explicit Pipe(int socket) : socket_(socket) {}

  template <class Handle>
  void send(const Handle& handle) const {
    const std::vector<std::uint8_t> driver = driver_of(handle);
    write(driver.data(), driver.size());
    if constexpr (std::is_same_v<Handle, BlockHandle>) {
      write(&handle.offset, sizeof handle.offset);
      write(&handle.bytes, sizeof handle.bytes);
    }
  }
  BlockHandle receive_block() const {
    BlockHandle handle{.device = {TestDevice::kKind, "0"}, .memory = receive_driver(), .offset = 0, .bytes = 0};
    read(&handle.offset, sizeof handle.offset);
    read(&handle.bytes, sizeof handle.bytes);
    return handle;
  }
  FenceHandle receive_fence() const { return {.device = {TestDevice::kKind, "0"}, .fence = receive_driver()}; }

 private:
  static std::vector<std::uint8_t> driver_of(const BlockHandle& handle) { return handle.memory; }
  static std::vector<std::uint8_t> driver_of(const FenceHandle& handle) { return handle.fence; }

  std::vector<std::uint8_t> receive_driver() const {
    std::vector<std::uint8_t> bytes(sizeof(SharedHandle));
    read(bytes.data(), bytes.size());
    return bytes;
  }
  void write(const void* data, std::size_t bytes) const {
    if (::send(socket_, data, bytes, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes)) throw Error(Code::kIo, "pipe");
  }
  void read(void* data, std::size_t bytes) const {
    if (::recv(socket_, data, bytes, MSG_WAITALL) != static_cast<ssize_t>(bytes)) throw Error(Code::kIo, "pipe");
  }

  int socket_;
};

/// A second process, which the test starts before it makes a device and its threads. The process runs `function` and
/// ends with exit code 0, or with 1 if the function throws.
class SecondProcess {
 public:
  explicit SecondProcess(const std::function<void(const Pipe&)>& function) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw Error(Code::kIo, "socketpair");
    process_ = ::fork();
    if (process_ == 0) {
      ::close(ends[0]);
      ::_exit(code_of([&] { function(Pipe(ends[1])); }));
    }
    ::close(ends[1]);
    socket_ = ends[0];
  }
  ~SecondProcess() {
    ::close(socket_);
    if (process_ > 0) end(SIGKILL);
  }

  Pipe pipe() const { return Pipe(socket_); }

  /// Sends `signal` to the process, unless it is 0, and waits until the process ends. Returns the status from
  /// waitpid().
  int end(int signal = 0) {
    if (signal != 0) ::kill(process_, signal);
    int status = -1;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return status;
  }

 private:
  static int code_of(const std::function<void()>& function) {
    try {
      function();
      return 0;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "second process: %s\n", error.what());
      return 1;
    }
  }

  pid_t process_ = -1;
  int socket_ = -1;
};

Buffer filled(std::size_t bytes, int value) {
  Buffer buffer = Buffer::heap(bytes);
  std::memset(buffer.data(), value, bytes);
  return buffer;
}

template <class Function>
Code code_of(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return Code::kInternal;
}

/// Imitates an accelerator host and an optimizer in two processes: in every step, the first process writes to the
/// beginning of the block, and the second copies these bytes to the position for this step. No thread of a host waits
/// during the steps.
TEST(TwoProcessesTest, TwoDevicesWorkOnOneBlockInTurn) {
  SecondProcess second([](const Pipe& pipe) {
    TestDevice device;
    const Region block(device.open_block(pipe.receive_block()));
    const auto there = device.open_fence(pipe.receive_fence());
    const auto here = device.open_fence(pipe.receive_fence());
    const auto stream = device.make_stream("second");
    const Region twice(device.allocate(16, "copy"));
    for (std::uint64_t step = 1; step <= 3; ++step) {
      stream->wait(there, step);
      stream->copy(twice, block.part(0, 16));
      stream->copy(block.part(16 * step, 16), twice);
      stream->signal(here, step);
    }
    stream->drain(kLimit);
  });
  TestDevice device;
  const auto unused = device.allocate(5000, "so that the block does not begin at the start of the memory");
  const auto owner = device.allocate(100, "block");
  const Region block(owner, 20, 64);
  const auto here = device.make_fence();
  const auto there = device.make_fence();
  second.pipe().send(device.export_block(block));
  second.pipe().send(device.export_fence(*here));
  second.pipe().send(device.export_fence(*there));
  const auto stream = device.make_stream("first");
  for (std::uint64_t step = 1; step <= 3; ++step) {
    stream->to_device(block.part(0, 16), HostRegion(filled(16, static_cast<int>(step))), Purpose::kParameters);
    stream->signal(here, step);
    stream->wait(there, step);
  }
  const Buffer back = Buffer::heap(100);
  stream->to_host(HostRegion(back), Region(owner), Purpose::kParameters);
  stream->drain(kLimit);
  EXPECT_EQ(second.end(), 0);
  std::vector<int> firsts;
  for (std::size_t i = 4; i < 100; i += 16) firsts.push_back(static_cast<int>(back.data()[i]));
  EXPECT_THAT(firsts, ::testing::ElementsAre(0, 3, 1, 2, 3, 0));
}

TEST(TwoProcessesTest, AHandleOfAProcessThatWasKilledIsRefused) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  SecondProcess owner([&](const Pipe&) {
    TestDevice device;
    const Region block(device.allocate(4096, "parameters"));
    const auto fence = device.make_fence();
    Pipe(ends[1]).send(device.export_block(block));
    Pipe(ends[1]).send(device.export_fence(*fence));
    ::pause();
  });
  TestDevice device;
  const BlockHandle block = Pipe(ends[0]).receive_block();
  const FenceHandle fence = Pipe(ends[0]).receive_fence();
  EXPECT_NO_THROW(device.open_block(block));
  EXPECT_NO_THROW(device.open_fence(fence));
  owner.end(SIGKILL);
  EXPECT_EQ(code_of([&] { device.open_block(block); }), Code::kPeerLost);
  EXPECT_EQ(code_of([&] { device.open_fence(fence); }), Code::kPeerLost);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(TwoProcessesTest, WhatWasOpenedOutlivesTheOwnerSoThatNobodyCrashes) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  SecondProcess owner([&](const Pipe&) {
    TestDevice device;
    const Region block(device.allocate(16, "parameters"));
    const auto stream = device.make_stream("owner");
    stream->to_device(block, HostRegion(filled(16, 9)), Purpose::kParameters);
    stream->drain(kLimit);
    Pipe(ends[1]).send(device.export_block(block));
    ::pause();
  });
  TestDevice device;
  const Region block(device.open_block(Pipe(ends[0]).receive_block()));
  owner.end(SIGKILL);
  const Buffer back = Buffer::heap(16);
  const auto stream = device.make_stream("reader");
  stream->to_host(HostRegion(back), block, Purpose::kSnapshot);
  stream->drain(kLimit);
  EXPECT_EQ(back.data()[15], std::byte{9});
  EXPECT_EQ(device.used_bytes(), 0u);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(TwoProcessesTest, AHandleThatDoesNotFitIsRefused) {
  TestDevice device({.memory_bytes = 8192});
  const BlockHandle good = device.export_block(Region(device.allocate(4096, "parameters")));

  BlockHandle other = good;
  other.device.uuid = "1\x1b[2J";
  try {
    device.open_block(other);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    EXPECT_STREQ(error.what(), "a handle belongs to test_device 1?[2J, and was given to test_device 0");
  }
  BlockHandle shorter = good;
  shorter.memory.pop_back();
  EXPECT_EQ(code_of([&] { device.open_block(shorter); }), Code::kCorrupt);
  for (const auto& [offset, bytes] : {std::pair{0ull, 8193ull}, {8192ull, 1ull}, {~0ull, 2ull}, {2ull, ~0ull}}) {
    BlockHandle beyond = good;
    beyond.offset = offset;
    beyond.bytes = bytes;
    EXPECT_EQ(code_of([&] { device.open_block(beyond); }), Code::kCorrupt) << offset << " " << bytes;
  }
}

TEST(TwoProcessesTest, OnlyTheProcessThatAllocatedABlockExportsIt) {
  TestDevice device;
  const Region own(device.allocate(16, "parameters"));
  const Region opened(device.open_block(device.export_block(own)));
  EXPECT_EQ(code_of([&] { device.export_block(opened); }), Code::kInternal);
}

}  // namespace
}  // namespace trainyard::test_device
