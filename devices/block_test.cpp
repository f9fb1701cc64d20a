// SPDX-License-Identifier: Apache-2.0
#include "devices/block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "devices/device.h"
#include "messages/error.h"

namespace trainyard::devices {
namespace {

using ::testing::HasSubstr;

class PlainBlock final : public Block {
 public:
  explicit PlainBlock(std::size_t bytes) : Block({"plain", "0"}, &first_, bytes, "parameters of rank 0") {}

 private:
  std::byte first_{};
};

/// A device that implements only what it must.
class PlainDevice final : public Device {
 public:
  PlainDevice() : Device({"plain", "0"}) {}
  std::shared_ptr<Block> allocate(std::size_t bytes, std::string) override {
    return std::make_shared<PlainBlock>(bytes);
  }
  std::unique_ptr<Stream> make_stream(std::string) override { return nullptr; }
  std::shared_ptr<Fence> make_fence() override { return nullptr; }
  std::unique_ptr<Update> make_update(Stream&, const UpdateRequest&, UpdateRegions) override { return nullptr; }
};

template <class Function>
std::string error_of(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(RegionTest, APartOfAPartCountsFromTheBlock) {
  const auto block = std::make_shared<PlainBlock>(100);
  const Region part = Region(block, 10, 50).part(5, 20);
  EXPECT_EQ(part.offset(), 15u);
  EXPECT_EQ(part.bytes(), 20u);
  EXPECT_EQ(part.address(), static_cast<std::byte*>(block->address()) + 15);
}

TEST(RegionTest, ARangeOutsideOfTheBlockIsRefused) {
  const auto block = std::make_shared<PlainBlock>(100);
  EXPECT_EQ(error_of([&] { Region(block, 90, 11); }),
            "bytes 90 to 101 of parameters of rank 0 were asked for, which has 100 bytes");
  EXPECT_NE(error_of([&] { Region(block, 101, 0); }), "no error");
  EXPECT_NE(error_of([&] { Region(block, ~std::size_t{0}, 2); }), "no error");
  EXPECT_NE(error_of([&] { Region(block, 10, 50).part(40, 11); }), "no error");
  EXPECT_EQ(error_of([&] { Region(block, 100, 0); }), "no error");
}

TEST(RegionTest, ARangeOutsideOfHostMemoryIsRefused) {
  const Buffer buffer = Buffer::heap(64);
  EXPECT_EQ(HostRegion(buffer, 16, 48).data(), buffer.data() + 16);
  EXPECT_EQ(error_of([&] { HostRegion(buffer, 16, 49); }),
            "bytes 16 to 65 of host memory were asked for, which has 64 bytes");
}

TEST(DeviceTest, ADeviceThatCannotShareSaysSo) {
  PlainDevice device;
  const Region region(device.allocate(8, "a block"));
  EXPECT_THAT(error_of([&] { device.export_block(region); }), HasSubstr("plain 0 cannot share its memory"));
  EXPECT_THAT(error_of([&] { device.open_block({}); }), HasSubstr("plain 0 cannot share its memory"));
  EXPECT_THAT(error_of([&] { device.open_fence({}); }), HasSubstr("plain 0 cannot share fences"));
  EXPECT_THAT(error_of([&] { device.adopt_stream("compute", nullptr); }),
              HasSubstr("plain 0 cannot use streams that it has not made"));
}

TEST(LinkBytesTest, CountsByPurposeAndDirection) {
  LinkBytes bytes;
  bytes.add_to_device(Purpose::kBatch, 100);
  bytes.add_to_device(Purpose::kBatch, 20);
  bytes.add_to_host(Purpose::kSnapshot, 7);
  EXPECT_EQ(bytes.of(Purpose::kBatch), (LinkCount{.to_device = 120, .to_host = 0}));
  EXPECT_EQ(bytes.of(Purpose::kGradients), LinkCount{});
  EXPECT_EQ(bytes.all(), (LinkCount{.to_device = 120, .to_host = 7}));
  EXPECT_EQ(bytes.all().both(), 127u);
}

}  // namespace
}  // namespace trainyard::devices
