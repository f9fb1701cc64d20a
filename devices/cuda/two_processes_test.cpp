// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cereal/archives/portable_binary.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <csignal>
#include <cstring>
#include <functional>
#include <sstream>

#include "devices/cuda/testing/gpu.h"
#include "devices/device.h"
#include "messages/error.h"

namespace trainyard::cuda_device {
namespace {

using devices::HostRegion;
using devices::Purpose;
using devices::Region;

constexpr std::chrono::milliseconds kLimit{30'000};

/// A pipe between the two processes. In a run, messages would carry what the test sends through it.
class Pipe {
 public:
  explicit Pipe(int socket) : socket_(socket) {}

  template <class Message>
  void send(const Message& message) const {
    std::ostringstream text;
    cereal::PortableBinaryOutputArchive{text}(message);
    const std::string bytes = text.str();
    const std::uint64_t size = bytes.size();
    write(&size, sizeof size);
    write(bytes.data(), size);
  }
  template <class Message>
  Message receive() const {
    std::uint64_t size = 0;
    read(&size, sizeof size);
    std::string bytes(size, '\0');
    read(bytes.data(), size);
    std::istringstream text(bytes);
    Message message;
    cereal::PortableBinaryInputArchive{text}(message);
    return message;
  }

 private:
  void write(const void* data, std::size_t bytes) const {
    if (::send(socket_, data, bytes, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes)) throw Error(Code::kIo, "pipe");
  }
  void read(void* data, std::size_t bytes) const {
    if (::recv(socket_, data, bytes, MSG_WAITALL) != static_cast<ssize_t>(bytes)) throw Error(Code::kIo, "pipe");
  }

  int socket_;
};

/// A second process with a device of its own. It is forked before CUDA is used in this process, because CUDA does not
/// work in a process that was forked afterwards. It runs `function` and ends with exit code 0, or with 1 if the
/// function throws.
class SecondProcess {
 public:
  explicit SecondProcess(const std::function<void(devices::Device&, const Pipe&)>& function) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw Error(Code::kIo, "socketpair");
    process_ = ::fork();
    if (process_ == 0) {
      ::close(ends[0]);
      ::_exit(code_of(function, Pipe(ends[1])));
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
  static int code_of(const std::function<void(devices::Device&, const Pipe&)>& function, const Pipe& pipe) {
    try {
      CudaDriver driver = make_driver();
      const auto device = driver.open(pipe.receive<std::string>());
      function(*device, pipe);
      return 0;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "second process: %s\n", error.what());
      return 1;
    }
  }

  pid_t process_ = -1;
  int socket_ = -1;
};

/// Every test starts its second process first, and then calls begin().
class CudaTwoProcessesTest : public ::testing::Test {
 protected:
  /// Opens the GPU in both processes. Returns false if there is no GPU.
  bool begin(SecondProcess& second) {
    const std::string uuid = first_gpu();
    if (uuid.empty()) return false;
    second.pipe().send(uuid);
    device_ = driver_.open(uuid);
    return true;
  }

  devices::Device& device() { return *device_; }

 private:
  CudaDriver driver_ = make_driver();
  std::unique_ptr<devices::Device> device_;
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
TEST_F(CudaTwoProcessesTest, TwoProcessesWorkOnOneBlockInTurn) {
  constexpr std::uint64_t kSteps = 50, kBytes = 1 << 16;
  SecondProcess second([](devices::Device& device, const Pipe& pipe) {
    const Region block(device.open_block(pipe.receive<BlockHandle>()));
    const auto there = device.open_fence(pipe.receive<FenceHandle>());
    const auto here = device.open_fence(pipe.receive<FenceHandle>());
    const auto stream = device.make_stream("second");
    for (std::uint64_t step = 1; step <= kSteps; ++step) {
      stream->wait(there, step);
      stream->copy(block.part(kBytes * step, kBytes), block.part(0, kBytes));
      stream->signal(here, step);
    }
    stream->drain(kLimit);
  });
  if (!begin(second)) GTEST_SKIP() << "skipped: no device";
  const auto owner = device().allocate(1000 + kBytes * (kSteps + 1), "block");
  const Region block(owner, 1000, kBytes * (kSteps + 1));
  const auto here = device().make_fence();
  const auto there = device().make_fence();
  second.pipe().send(device().export_block(block));
  second.pipe().send(device().export_fence(*here));
  second.pipe().send(device().export_fence(*there));
  const auto stream = device().make_stream("first");
  for (std::uint64_t step = 1; step <= kSteps; ++step) {
    stream->to_device(block.part(0, kBytes), HostRegion(filled(kBytes, static_cast<int>(step))), Purpose::kParameters);
    stream->signal(here, step);
    stream->wait(there, step);
  }
  const Buffer back = Buffer::heap(block.bytes());
  stream->to_host(HostRegion(back), block, Purpose::kParameters);
  stream->drain(kLimit);
  EXPECT_EQ(second.end(), 0);
  for (std::uint64_t step = 1; step <= kSteps; ++step) {
    EXPECT_EQ(static_cast<std::uint64_t>(back.data()[kBytes * step]), step);
    EXPECT_EQ(static_cast<std::uint64_t>(back.data()[kBytes * (step + 1) - 1]), step);
  }
}

TEST_F(CudaTwoProcessesTest, AHandleOfAProcessThatWasKilledIsRefused) {
  SecondProcess second([](devices::Device& device, const Pipe& pipe) {
    const Region block(device.allocate(4096, "parameters"));
    const auto fence = device.make_fence();
    pipe.send(device.export_block(block));
    pipe.send(device.export_fence(*fence));
    ::pause();
  });
  if (!begin(second)) GTEST_SKIP() << "skipped: no device";
  const auto block = second.pipe().receive<BlockHandle>();
  const auto fence = second.pipe().receive<FenceHandle>();
  EXPECT_NO_THROW(device().open_block(block));
  EXPECT_NO_THROW(device().open_fence(fence));
  second.end(SIGKILL);
  EXPECT_EQ(code_of([&] { device().open_block(block); }), Code::kPeerLost);
  EXPECT_EQ(code_of([&] { device().open_fence(fence); }), Code::kPeerLost);
}

TEST_F(CudaTwoProcessesTest, TheMemoryOfAProcessThatWasKilledIsFreedWhenTheOthersHaveClosedIt) {
  constexpr std::size_t kBytes = std::size_t{1} << 30;
  SecondProcess second([](devices::Device& device, const Pipe& pipe) {
    const Region block(device.allocate(kBytes, "parameters"));
    pipe.send(device.export_block(block));
    ::pause();
  });
  if (!begin(second)) GTEST_SKIP() << "skipped: no device";
  const auto free_bytes = [] {
    std::size_t free = 0, total = 0;
    EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
    return free;
  };
  auto block = device().open_block(second.pipe().receive<BlockHandle>());
  const std::size_t before = free_bytes();
  second.end(SIGKILL);
  block.reset();
  // The driver frees the memory of a process that was killed a little later.
  const auto deadline = std::chrono::steady_clock::now() + kLimit;
  while (free_bytes() < before + kBytes && std::chrono::steady_clock::now() < deadline) ::usleep(10'000);
  EXPECT_GE(free_bytes(), before + kBytes);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(CudaTwoProcessesTest, ADamagedHandleIsRefusedAndTheDeviceStillWorks) {
  SecondProcess second([](devices::Device& device, const Pipe& pipe) {
    const Region block(device.allocate(4096, "parameters"));
    pipe.send(device.export_block(block));
    ::pause();
  });
  if (!begin(second)) GTEST_SKIP() << "skipped: no device";
  const auto good = second.pipe().receive<BlockHandle>();
  BlockHandle damaged = good;
  std::fill_n(damaged.memory.begin(), 64, std::uint8_t{0xff});
  EXPECT_EQ(code_of([&] { device().open_block(damaged); }), Code::kCorrupt);
  BlockHandle beyond = good;
  beyond.offset = 4097;
  EXPECT_EQ(code_of([&] { device().open_block(beyond); }), Code::kCorrupt);
  const Region block(device().open_block(good));
  const Buffer back = filled(4096, 1);
  const auto stream = device().make_stream("reader");
  stream->to_host(HostRegion(back), block, Purpose::kSnapshot);
  stream->drain(kLimit);
  EXPECT_EQ(back.data()[4095], std::byte{0});
}

}  // namespace
}  // namespace trainyard::cuda_device
