// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include "devices/cuda/testing/gpu.h"
#include "messages/error.h"

namespace trainyard::cuda_device {
namespace {

using devices::HostRegion;
using devices::Purpose;
using devices::Region;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

constexpr std::chrono::milliseconds kLimit{20'000};

Buffer filled(std::size_t bytes, int value) {
  Buffer buffer = Buffer::heap(bytes);
  std::memset(buffer.data(), value, bytes);
  return buffer;
}

bool all_are(const Buffer& buffer, int value) {
  return std::ranges::all_of(buffer.bytes(), [&](std::byte b) { return b == static_cast<std::byte>(value); });
}

template <class Function>
std::pair<Code, std::string> error_of(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(CudaDriverTest, AGpuThatIsNotThereIsRefusedWithThoseThatAre) {
  CudaDriver driver = make_driver();
  const auto [code, text] = error_of([&] { driver.open("no such GPU\x1b"); });
  if (first_gpu().empty()) {
    // Without a driver the error says so; with a driver but without a GPU it lists none.
    EXPECT_TRUE(code == Code::kUnsupported || code == Code::kNotFound) << text;
    return;
  }
  EXPECT_EQ(code, Code::kNotFound);
  EXPECT_THAT(text, AllOf(StartsWith("device 'cuda': this process sees no GPU 'no such GPU?'; it sees: "),
                          HasSubstr(first_gpu())));
}

TEST(CudaDriverTest, WithoutADriverTheErrorSaysSo) {
  if (!first_gpu().empty()) GTEST_SKIP() << "skipped: there is a GPU";
  CudaDriver driver = make_driver();
  const auto [code, text] = error_of([&] { driver.open("any"); });
  EXPECT_THAT(text, ::testing::AnyOf(StartsWith("there is no NVIDIA driver: libcuda.so.1: "),
                                     StartsWith("CUDA cannot be used: "), EndsWith("it sees: none")));
}

class CudaDeviceTest : public GpuTest {};

TEST_F(CudaDeviceTest, ANewBlockIsZeroedAndAligned) {
  for (const std::size_t bytes : {1ul, 4096ul, (5ul << 20) + 3}) {
    { const auto dirty = device().allocate(bytes, "dirty"); }
    const Region block(device().allocate(bytes, "parameters"));
    EXPECT_EQ(block.bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.address()) % 256, 0u);
    const Buffer back = filled(bytes, 1);
    const auto stream = device().make_stream("reader");
    stream->to_host(HostRegion(back), block, Purpose::kSnapshot);
    stream->drain(kLimit);
    EXPECT_TRUE(all_are(back, 0));
  }
}

TEST_F(CudaDeviceTest, AStreamCarriesOutItsOperationsInOrder) {
  constexpr std::size_t kBytes = 3 << 20;
  const Region first(device().allocate(kBytes, "first")), second(device().allocate(kBytes, "second"));
  const Buffer back = Buffer::heap(kBytes), zeroed = Buffer::heap(kBytes);
  const auto stream = device().make_stream("worker");
  stream->to_device(first, HostRegion(filled(kBytes, 7)), Purpose::kParameters);
  stream->copy(second, first);
  stream->zero(first);
  stream->to_host(HostRegion(back), second, Purpose::kSnapshot);
  stream->to_host(HostRegion(zeroed), first, Purpose::kSnapshot);
  stream->drain(kLimit);
  EXPECT_TRUE(all_are(back, 7));
  EXPECT_TRUE(all_are(zeroed, 0));
  EXPECT_EQ(device().link_bytes().of(Purpose::kParameters).to_device, kBytes);
  EXPECT_EQ(device().link_bytes().of(Purpose::kSnapshot).to_host, 2 * kBytes);
}

/// While a stream waits, some functions of CUDA wait for it if they are called for the first time. So these tests first
/// copy once without a fence.
class WaitingStreamTest : public CudaDeviceTest {
 protected:
  static constexpr std::size_t kBytes = 1 << 20;

  void SetUp() override {
    CudaDeviceTest::SetUp();
    if (IsSkipped()) return;
    block_.emplace(device().allocate(kBytes, "parameters"));
    const auto stream = device().make_stream("first");
    stream->zero(*block_);
    stream->to_device(*block_, HostRegion(source_), Purpose::kParameters);
    stream->to_host(HostRegion(back_), *block_, Purpose::kSnapshot);
    stream->zero(*block_);
    stream->drain(kLimit);
    std::memset(back_.data(), 0, kBytes);
  }

  Buffer source_ = filled(kBytes, 9);
  Buffer back_ = filled(kBytes, 0);
  std::optional<Region> block_;
};

TEST_F(WaitingStreamTest, AnOperationKeepsTheMemoryOnWhichItWorks) {
  const auto gate = device().make_fence();
  auto last = device().make_fence();
  const auto stream = device().make_stream("worker");
  stream->wait(gate, 1);
  stream->to_device(*block_, HostRegion(std::exchange(source_, {})), Purpose::kParameters);
  stream->to_host(HostRegion(back_), *std::exchange(block_, std::nullopt), Purpose::kSnapshot);
  stream->signal(std::move(last), 1);
  gate->signal(1);
  stream->drain(kLimit);
  EXPECT_TRUE(all_are(back_, 9));
}

TEST_F(WaitingStreamTest, FencesOrderTwoStreamsAndTheHost) {
  const auto gate = device().make_fence(), ready = device().make_fence(), done = device().make_fence();
  const auto writer = device().make_stream("writer"), reader = device().make_stream("reader");
  std::atomic<int> calls = 0;
  writer->wait(gate, 3);
  writer->to_device(*block_, HostRegion(source_), Purpose::kParameters);
  writer->signal(ready, 5);
  reader->wait(ready, 5);
  reader->to_host(HostRegion(back_), *block_, Purpose::kSnapshot);
  reader->then([&] { ++calls; });
  reader->signal(done, 1);
  gate->signal(2);
  EXPECT_EQ(ready->value(), 0u);
  EXPECT_EQ(calls, 0);
  gate->signal(3);
  done->await(1, kLimit);
  EXPECT_TRUE(all_are(back_, 9));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(ready->value(), 5u);
}

TEST_F(WaitingStreamTest, AStreamThatWaitsNamesTheOperationWhenItIsDrained) {
  const auto gate = device().make_fence();
  const auto stream = device().make_stream("worker");
  stream->wait(gate, 1);
  stream->zero(*block_);
  const auto [code, text] = error_of([&] { stream->drain(std::chrono::milliseconds(30)); });
  EXPECT_EQ(code, Code::kTimeout);
  EXPECT_EQ(text, "stream 'worker' is not done within 30 ms: 'wait' is under way, and 2 operations wait");
  gate->signal(1);
  stream->drain(kLimit);
}

TEST_F(CudaDeviceTest, AFenceIsSignalledAndAwaitedByTheHost) {
  const auto fence = device().make_fence();
  EXPECT_EQ(fence->value(), 0u);
  fence->signal(4);
  fence->await(3, kLimit);
  EXPECT_EQ(error_of([&] { fence->signal(4); }).second, "a fence was signalled 4 when its value was 4");
  const auto [code, text] = error_of([&] { fence->await(5, std::chrono::milliseconds(20)); });
  EXPECT_EQ(code, Code::kTimeout);
  EXPECT_EQ(text, "a fence has not reached 5 within 20 ms; its value is 4");
}

TEST_F(CudaDeviceTest, AnAdoptedStreamIsOrderedWithTheWorkOfItsOwner) {
  cudaStream_t native = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&native, cudaStreamNonBlocking), cudaSuccess);
  const Region block(device().allocate(1 << 20, "parameters"));
  const Buffer back = Buffer::heap(1 << 20);
  {
    const auto stream = device().adopt_stream("compute", native);
    ASSERT_EQ(cudaMemsetAsync(block.address(), 3, block.bytes(), native), cudaSuccess);
    stream->to_host(HostRegion(back), block, Purpose::kSnapshot);
    stream->drain(kLimit);
  }
  EXPECT_TRUE(all_are(back, 3));
  EXPECT_EQ(cudaStreamDestroy(native), cudaSuccess);
}

TEST_F(CudaDeviceTest, AnErrorAboutExhaustedMemoryNamesTheHoldersTheLargestFirst) {
  const auto small = device().allocate(1000, "exp_avg");
  const auto large = device().allocate(3 << 20, "parameters");
  const auto [code, text] = error_of([&] { device().allocate(std::size_t{1} << 50, "gradients"); });
  EXPECT_EQ(code, Code::kUnsupported);
  EXPECT_THAT(text, MatchesRegex("GPU 0 \\(.*\\) has no room for 1125899906842624 bytes of gradients: [0-9]+ of [0-9]+ "
                                 "bytes are free; this process has 2 blocks here: parameters 3145728, exp_avg 1000"));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(device().allocated_bytes(), 1000u + (3 << 20));
}

TEST_F(CudaDeviceTest, AProcessOpensItsOwnBlocks) {
  const Region block(device().allocate(4096, "parameters"));
  const Region opened(device().open_block(device().export_block(block.part(256, 512))));
  EXPECT_EQ(opened.address(), block.part(256, 512).address());
  EXPECT_EQ(error_of([&] { device().export_block(opened); }).first, Code::kInternal);
  const auto fence = device().make_fence();
  const auto again = device().open_fence(device().export_fence(*fence));
  const auto stream = device().make_stream("worker");
  fence->signal(1);
  stream->wait(again, 1);
  stream->signal(again, 2);
  fence->await(2, kLimit);
  EXPECT_EQ(again->value(), 2u);
}

TEST_F(CudaDeviceTest, AHandleThatDoesNotFitIsRefused) {
  const auto owner = device().allocate(4096, "parameters");
  const BlockHandle good = device().export_block(Region(owner));
  BlockHandle other = good;
  other.device.uuid = "other";
  EXPECT_EQ(error_of([&] { device().open_block(other); }).first, Code::kInvalidArgument);
  BlockHandle shorter = good;
  shorter.memory.pop_back();
  EXPECT_EQ(error_of([&] { device().open_block(shorter); }),
            std::pair(Code::kCorrupt, std::string("a handle of CUDA memory has 111 bytes, not 112")));
  for (const auto& [offset, bytes] : {std::pair{0ull, 4097ull}, {4096ull, 1ull}, {~0ull, 2ull}, {2ull, ~0ull}}) {
    BlockHandle beyond = good;
    beyond.offset = offset;
    beyond.bytes = bytes;
    EXPECT_EQ(error_of([&] { device().open_block(beyond); }).first, Code::kCorrupt) << offset << " " << bytes;
  }
}

TEST_F(CudaDeviceTest, AHandleOfABlockThatWasFreedIsRefused) {
  auto owner = device().allocate(4096, "parameters");
  const BlockHandle handle = device().export_block(Region(owner));
  owner.reset();
  EXPECT_EQ(error_of([&] { device().open_block(handle); }).first, Code::kPeerLost);
}

}  // namespace
}  // namespace trainyard::cuda_device
