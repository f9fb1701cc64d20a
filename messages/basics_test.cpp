// SPDX-License-Identifier: Apache-2.0
// Tests of the small types below the messages: buffers, tensors, element types and errors.
#include <gtest/gtest.h>

#include "messages/buffer.h"
#include "messages/dtype.h"
#include "messages/error.h"
#include "messages/tensor.h"

namespace trainyard {
namespace {

TEST(BufferTest, IsAlignedAndKeptAliveByAnyReference) {
  Buffer copy;
  {
    const Buffer buffer = Buffer::heap(100);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0u);
    buffer.data()[99] = std::byte{42};
    copy = buffer;
    EXPECT_TRUE(copy.same_as(buffer));
  }
  EXPECT_EQ(copy.bytes()[99], std::byte{42});
  EXPECT_EQ(copy.owner().use_count(), 1);
}

TEST(BufferTest, ReleasesItsOwnerWithTheLastReference) {
  auto owner = std::make_shared<int>(0);
  std::byte bytes[4];
  {
    const Buffer buffer(owner, bytes, sizeof bytes, SharedHandle{.pid = 1, .fd = 2});
    const Buffer second = buffer;
    EXPECT_EQ(owner.use_count(), 3);
    EXPECT_EQ(second.shared()->fd, 2);
  }
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(TensorTest, CountsElementsAndBytes) {
  const Tensor tensor = Tensor::empty(DType::kFloat32, {2, 3});
  EXPECT_EQ(tensor.elements(), 6);
  EXPECT_EQ(tensor.bytes(), 24u);
  EXPECT_EQ(tensor.as<float>().size(), 6u);
  EXPECT_EQ(Tensor{}.elements(), 1) << "a scalar";
  EXPECT_EQ(to_text(tensor.shape), "[2, 3]");
}

TEST(TensorTest, IsAPlaceInABuffer) {
  const Buffer buffer = Buffer::heap(64);
  const Tensor tensor{DType::kInt32, {4}, 16, buffer};
  EXPECT_EQ(tensor.data(), buffer.data() + 16);
}

TEST(DTypeTest, KnowsSizesAndNamesAndSaysSoOfStrangers) {
  EXPECT_EQ(size_of(DType::kBFloat16), 2u);
  EXPECT_EQ(name_of(DType::kBool), "bool");
  EXPECT_EQ(size_of(static_cast<DType>(10)), 0u);
  EXPECT_EQ(name_of(static_cast<DType>(10)), "invalid");
}

// These numbers are part of the wire format.
TEST(DTypeTest, KeepsItsNumbers) {
  const std::vector<std::string_view> names{"uint8",   "int8",     "int16",   "int32",   "int64",
                                            "float16", "bfloat16", "float32", "float64", "bool"};
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(name_of(static_cast<DType>(i)), names[i]);
}

TEST(ErrorTest, CarriesItsCodeAndItsFormattedMessage) {
  const Error error(Code::kNotFound, "no file {}; {} were looked at", "a.txt", 3);
  EXPECT_EQ(error.code(), Code::kNotFound);
  EXPECT_STREQ(error.what(), "no file a.txt; 3 were looked at");
  EXPECT_STREQ(Error(Code::kIo, "100% {}").what(), "100% {}") << "a finished message is not formatted again";
}

TEST(ErrorTest, NamesEveryCode) {
  for (int code = 0; code <= static_cast<int>(Code::kInternal); ++code) {
    EXPECT_NE(name_of(static_cast<Code>(code)), "unknown") << code;
  }
  EXPECT_EQ(name_of(static_cast<Code>(99)), "unknown");
}

}  // namespace
}  // namespace trainyard
