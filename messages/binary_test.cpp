// SPDX-License-Identifier: Apache-2.0
// Tests of the binary form, byte by byte, and of the errors that the reader reports for malformed bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "messages/error.h"
#include "messages/message_type.h"
#include "messages/testing/everything.h"

namespace {

std::atomic<std::size_t> largest_allocation{0};

}  // namespace

// The whole test program allocates through these functions, which record how much memory a malicious message makes the
// reader request. If they were inlined, gcc would warn that they do not match.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (size > largest_allocation) largest_allocation = size;
  if (void* memory = std::malloc(size != 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace trainyard {
namespace {

using testing::Everything;
using testing::Inner;

/// A message with one field.
template <class Field>
struct Only {
  static constexpr const char* kTypeName = "Only";
  Field field{};

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(field));
  }
};

template <class Field>
std::string bytes_of(const Field& value) {
  std::string body;
  std::vector<Buffer> payloads;
  encode(Only<Field>{value}, body, payloads);
  return body;
}

std::span<const std::byte> as_body(const std::string& bytes) { return std::as_bytes(std::span(bytes)); }

template <class Field>
Field read(const std::string& bytes, std::vector<Buffer> payloads = {}) {
  Only<Field> message;
  decode(message, as_body(bytes), payloads);
  return message.field;
}

/// Returns the text of the Error that is thrown when `bytes` are read.
template <class Field>
std::string refusal(const std::string& bytes, std::vector<Buffer> payloads = {}) {
  try {
    read<Field>(bytes, payloads);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kCorrupt);
    return error.what();
  }
  return "accepted";
}

using namespace std::string_literals;

TEST(BinaryTest, WritesNumbersLittleEndianWithoutPadding) {
  EXPECT_EQ(bytes_of<std::uint32_t>(0x01020304), "\x04\x03\x02\x01"s);
  EXPECT_EQ(bytes_of<std::int16_t>(-2), "\xfe\xff"s);
  EXPECT_EQ(bytes_of<double>(1.0), "\0\0\0\0\0\0\xf0\x3f"s);
  EXPECT_EQ(bytes_of<bool>(true), "\x01"s);
  EXPECT_EQ(bytes_of(testing::Colour::kBlue), "\x03\x02"s);
}

TEST(BinaryTest, WritesStringsListsMapsAndOptionalsWithACountInFront) {
  EXPECT_EQ(bytes_of<std::string>("ab"), "\2\0\0\0ab"s);
  EXPECT_EQ((bytes_of<std::vector<std::uint16_t>>({1, 2})), "\2\0\0\0\1\0\2\0"s);
  EXPECT_EQ((bytes_of<std::map<std::string, std::uint8_t>>({{"b", 2}, {"a", 1}})), "\2\0\0\0\1\0\0\0a\1\1\0\0\0b\2"s);
  EXPECT_EQ((bytes_of<std::optional<std::uint8_t>>({})), "\0"s);
  EXPECT_EQ((bytes_of<std::optional<std::uint8_t>>(5)), "\1\5"s);
}

TEST(BinaryTest, WritesATensorAsDtypeRankShapePayloadAndOffset) {
  const Tensor tensor{DType::kInt64, {2, 3}, 0, Buffer::heap(48)};
  EXPECT_EQ(bytes_of(tensor), "\x04\x02\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"s);
  EXPECT_EQ(bytes_of(Tensor{}), "\x07\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0"s);
}

TEST(BinaryTest, WritesNoTensorThatItsReaderWouldRefuse) {
  EXPECT_THROW(bytes_of(Tensor{DType::kUInt8, std::vector<std::int64_t>(17, 0), 0, {}}), Error);
  EXPECT_EQ(read<Tensor>(bytes_of(Tensor{DType::kUInt8, {0}, 64, {}})).offset, 0u);
}

TEST(BinaryTest, ListsASharedBufferOnce) {
  const Buffer buffer = Buffer::heap(64);
  const Tensor first{DType::kFloat32, {4}, 0, buffer};
  const Tensor second{DType::kFloat32, {4}, 32, buffer};
  const Tensor other = Tensor::empty(DType::kFloat32, {1});
  std::string body;
  std::vector<Buffer> payloads;
  encode(Only<std::vector<Tensor>>{{first, other, second}}, body, payloads);
  ASSERT_EQ(payloads.size(), 2u);
  const auto back = read<std::vector<Tensor>>(body, payloads);
  EXPECT_TRUE(back[2].buffer.same_as(buffer));
  EXPECT_EQ(back[2].offset, 32u);
  EXPECT_TRUE(back[1].buffer.same_as(other.buffer));
}

TEST(BinaryTest, RefusesToWriteMorePayloadsThanAHeaderCanName) {
  Only<std::vector<Tensor>> message;
  for (int i = 0; i < 65; ++i) message.field.push_back(Tensor::empty(DType::kUInt8, {1}));
  std::string body;
  std::vector<Buffer> payloads;
  EXPECT_THROW(encode(message, body, payloads), Error);
}

TEST(HostileBinaryTest, TenBytesThatClaimAGibibyteOfFloatsGetNoMemory) {
  const std::string claim =
      "\0\0\0\x10"
      "abcdef"s;  // A length of 2^28 floats, of which only six bytes follow.
  largest_allocation = 0;
  EXPECT_EQ(refusal<std::vector<float>>(claim),
            "message claims 268435456 elements of 4 bytes or more at byte 0, where 6 bytes remain");
  EXPECT_EQ(refusal<std::string>(claim),
            "message claims 268435456 elements of 1 bytes or more at byte 0, where 6 bytes remain");
  EXPECT_THAT((refusal<std::map<std::string, float>>(claim)), ::testing::HasSubstr("claims 268435456"));
  EXPECT_THAT(refusal<std::vector<Inner>>(claim), ::testing::HasSubstr("claims 268435456"));
  EXPECT_LT(largest_allocation, 4096u);
}

TEST(HostileBinaryTest, AListOfStructsTakesMemoryOnlyAsItsBytesAreRead) {
  // The count claims that there are as many structs as remaining bytes, but not even the first struct is complete.
  std::string claim = "\0\0\1\0"s + std::string(65536, '\xff');
  largest_allocation = 0;
  EXPECT_THAT(refusal<std::vector<Inner>>(claim), ::testing::HasSubstr("claims 4294967295"));
  EXPECT_LT(largest_allocation, 4096u);
}

TEST(HostileBinaryTest, ABoolIsZeroOrOne) {
  EXPECT_EQ(refusal<bool>("\2"), "message has 2 for a bool at byte 0; 0 or 1");
  EXPECT_EQ(refusal<std::optional<bool>>("\1\xff"), "message has 255 for a bool at byte 1; 0 or 1");
}

TEST(HostileBinaryTest, AMapNamesAKeyOnce) {
  EXPECT_EQ((refusal<std::map<std::string, std::uint8_t>>("\2\0\0\0\1\0\0\0a\1\1\0\0\0a\2"s)),
            "message has the key 'a' a second time in a map, before byte 15");
}

TEST(HostileBinaryTest, AMessageEndsWithItsLastField) {
  EXPECT_EQ(refusal<std::uint8_t>("\1\2\3"), "message has 2 bytes after its last field");
  EXPECT_EQ(refusal<std::uint32_t>("\1\2\3"), "message ends at byte 3, where 4 more were expected and 3 remain");
}

/// Returns the encoding of a one-dimensional float32 tensor.
std::string tensor_bytes(std::uint64_t extent, std::uint32_t payload, std::uint64_t offset) {
  std::string bytes = "\x07\x01"s;
  bytes.append(reinterpret_cast<const char*>(&extent), 8);
  bytes.append(reinterpret_cast<const char*>(&payload), 4);
  return bytes.append(reinterpret_cast<const char*>(&offset), 8);
}

TEST(HostileTensorTest, LiesWithinItsPayload) {
  const std::vector<Buffer> payloads{Buffer::heap(16)};
  EXPECT_EQ(read<Tensor>(tensor_bytes(4, 0, 0), payloads).elements(), 4);
  EXPECT_EQ(read<Tensor>(tensor_bytes(0, 0, 16), payloads).elements(), 0);
  EXPECT_EQ(refusal<Tensor>(tensor_bytes(5, 0, 0), payloads),
            "tensor at byte 0 needs 20 bytes at offset 0 of a payload of 16");
  EXPECT_EQ(refusal<Tensor>(tensor_bytes(4, 0, 1), payloads),
            "tensor at byte 0 needs 16 bytes at offset 1 of a payload of 16");
  EXPECT_EQ(refusal<Tensor>(tensor_bytes(1, 0, ~0ull - 3), payloads),
            "tensor at byte 0 needs 4 bytes at offset 18446744073709551612 of a payload of 16");
}

TEST(HostileTensorTest, NamesAPayloadThatCame) {
  EXPECT_EQ(refusal<Tensor>(tensor_bytes(1, 0, 0)), "tensor at byte 0 refers to payload 0 of 0");
  EXPECT_EQ(refusal<Tensor>(tensor_bytes(1, 1, 0), {Buffer::heap(16)}), "tensor at byte 0 refers to payload 1 of 1");
  EXPECT_EQ(refusal<Tensor>(tensor_bytes(1, 0xffffffff, 8)), "tensor at byte 0 has an offset but no payload");
}

TEST(HostileTensorTest, HasAShapeThatCanBeAddressed) {
  EXPECT_EQ(refusal<Tensor>(tensor_bytes(1ull << 62, 0xffffffff, 0)),
            "tensor of shape [4611686018427387904] has more bytes than can be addressed");
  EXPECT_EQ(refusal<Tensor>(tensor_bytes(~0ull, 0xffffffff, 0)), "tensor with negative extent in shape [-1]");
  EXPECT_EQ(refusal<Tensor>("\x07\x11"s + std::string(200, '\0')), "tensor at byte 0 has 17 dimensions; at most 16");
  EXPECT_EQ(refusal<Tensor>("\x0a\0"s + std::string(12, '\0')), "tensor with unknown dtype number 10");
}

// Each extent is allowed, but their product overflows. A later extent of zero must not hide the overflow.
TEST(HostileTensorTest, HasAProductThatDoesNotOverflow) {
  const std::vector<std::int64_t> shape{1ll << 31, 1ll << 31, 1ll << 31};
  EXPECT_THROW(checked_bytes(DType::kUInt8, shape), Error);
  EXPECT_EQ(checked_bytes(DType::kFloat64, std::vector<std::int64_t>{2, 3}), 48u);
  EXPECT_EQ(checked_bytes(DType::kBool, {}), 1u);
}

TEST(HostileTensorTest, LeavesTheOldTensorsBufferBehind) {
  Only<Tensor> message{Tensor::empty(DType::kFloat64, {8})};
  const std::string bytes = tensor_bytes(3, 0xffffffff, 0);
  decode(message, as_body(bytes));
  EXPECT_TRUE(message.field.buffer.empty());
}

}  // namespace
}  // namespace trainyard
