// SPDX-License-Identifier: Apache-2.0
#include "checkpoints/safetensors.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "checkpoints/testing/files.h"

namespace trainyard::checkpoints {
namespace {

using nlohmann::json;
using testing::error_of;
using testing::TemporaryDirectory;

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

json read_with_python(const std::string& path) {
  FILE* pipe = ::popen(("python3 '" TRAINYARD_SAFETENSORS_READER "' '" + path + "'").c_str(), "r");
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  EXPECT_EQ(::pclose(pipe), 0) << "the reader refused " << path;
  return json::parse(text);
}

TEST(SafetensorsTest, AnotherReaderSeesTheSameTensors) {
  if (std::system("python3 -c pass >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "python3, the independent reader, is not here";
  TemporaryDirectory directory;
  const std::vector<float> weights = {1.5f, -2, 0.1f, std::numeric_limits<float>::max(), 5, 6};
  const std::vector<std::int64_t> steps = {-(1ll << 40)};
  const std::vector<std::uint8_t> mask = {1, 0, 255};
  const std::vector<std::uint16_t> halves = {0x3c00, 0xc000};  // These are 1 and -2 in half precision.
  write_safetensors(directory / "m",
                    {{"mask", DType::kUInt8, {3}, bytes_of(mask)},
                     {"layers.0.weight", DType::kFloat32, {2, 3}, bytes_of(weights)},
                     {"half", DType::kFloat16, {2}, bytes_of(halves)},
                     {"none", DType::kFloat32, {0, 4}, {}},
                     {"steps", DType::kInt64, {}, bytes_of(steps)}},
                    {{"format", "trainyard"}, {"quote", "\"\n"}});
  const json seen = read_with_python(directory / "m");
  EXPECT_EQ(seen["metadata"], json({{"format", "trainyard"}, {"quote", "\"\n"}}));
  EXPECT_EQ(seen["values"]["layers.0.weight"].get<std::vector<float>>(), weights);
  EXPECT_EQ(seen["values"]["steps"], json(steps));
  EXPECT_EQ(seen["values"]["mask"], json(mask));
  EXPECT_EQ(seen["values"]["half"], json({1.0, -2.0}));
  EXPECT_EQ(seen["shapes"]["none"], json({0, 4}));
  EXPECT_EQ(seen["shapes"]["steps"], json::array());
  EXPECT_EQ(seen["order"], json({"steps", "layers.0.weight", "none", "half", "mask"}));  // Wide dtypes come first.
}

TEST(SafetensorsTest, ReadsBackWhatItWrote) {
  TemporaryDirectory directory;
  const std::vector<float> weights = {1, 2, 3, 4};
  const FileDigest digest = write_safetensors(directory / "m", {{"w", DType::kFloat32, {2, 2}, bytes_of(weights)}}, {});
  EXPECT_EQ(digest, digest_file(directory / "m"));
  const SafetensorsFile file(directory / "m");
  std::vector<float> read(4);
  const SafetensorsEntry* entry = file.header().find("w");
  ASSERT_NE(entry, nullptr);
  file.read(*entry, std::as_writable_bytes(std::span(read)));
  EXPECT_EQ(read, weights);
  EXPECT_EQ(file.header().find("v"), nullptr);
}

TEST(SafetensorsTest, RefusesToWriteWhatCouldNotBeReadBack) {
  TemporaryDirectory directory;
  const std::vector<float> one = {1};
  const SafetensorsTensor tensor{"w", DType::kFloat32, {1}, bytes_of(one)};
  const auto write = [&](std::vector<SafetensorsTensor> tensors) {
    return error_of([&] { write_safetensors(directory / "m", std::move(tensors), {}); });
  };
  EXPECT_EQ(write({tensor, tensor}), (directory / "m") + ": the tensor name 'w' is taken");
  EXPECT_EQ(write({{"__metadata__", DType::kFloat32, {1}, bytes_of(one)}}),
            (directory / "m") + ": the tensor name '__metadata__' is taken");
  EXPECT_NE(write({{"\xff", DType::kFloat32, {1}, bytes_of(one)}}).find("a tensor name cannot be written"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(directory / "m"));
}

/// A malformed header, the number of data bytes that follow it, and a part of the expected error.
struct Attack {
  std::string header;
  std::size_t data;
  std::string error;
};

class SafetensorsAttackTest : public ::testing::TestWithParam<Attack> {};

TEST_P(SafetensorsAttackTest, IsRefusedWithAReason) {
  TemporaryDirectory directory;
  const std::uint64_t size = GetParam().header.size();
  std::string bytes(reinterpret_cast<const char*>(&size), sizeof size);
  bytes += GetParam().header + std::string(GetParam().data, 'x');
  testing::write_file(directory / "m", bytes);
  const std::string error = error_of([&] { SafetensorsFile file(directory / "m"); });
  EXPECT_NE(error.find(GetParam().error), std::string::npos) << "got: " << error;
}

std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape, const std::string& at) {
  return "\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + at + "}";
}

INSTANTIATE_TEST_SUITE_P(
    Files, SafetensorsAttackTest,
    ::testing::Values(
        Attack{"", 0, "does not begin with '{'"}, Attack{" {}", 0, "does not begin with '{'"},
        Attack{"{", 0, "parse error"}, Attack{"{}x", 0, "parse error"}, Attack{"{\"\xff\":{}}", 0, "parse error"},
        Attack{"{}", 1, "the tensors have 0 bytes, the file has 1"},
        Attack{"{" + tensor("a", "F32", "[1]", "[0,4]") + "," + tensor("a", "F32", "[1]", "[4,8]") + "}", 8,
               "the key 'a' is given twice"},
        Attack{R"({"__metadata__":{"k":"1","k":"2"}})", 0, "the key 'k' is given twice"},
        Attack{R"({"__metadata__":{"k":1}})", 0, "is not a string"},
        Attack{R"({"__metadata__":[]})", 0, "is not an object"},
        Attack{"{" + tensor("a", "F32", "[1]", "[0,4]") + "," + tensor("b", "F32", "[1]", "[2,6]") + "}", 6,
               "tensors overlap"},
        Attack{"{" + tensor("a", "F32", "[1]", "[0,4]") + "," + tensor("b", "F32", "[1]", "[0,4]") + "}", 4,
               "tensors overlap"},
        Attack{"{" + tensor("a", "F32", "[1]", "[0,4]") + "," + tensor("b", "F32", "[1]", "[8,12]") + "}", 12,
               "there is a hole"},
        Attack{"{" + tensor("a", "F32", "[1]", "[4,8]") + "}", 8, "there is a hole"},
        Attack{"{" + tensor("a", "F32", "[2]", "[0,8]") + "}", 4, "the tensors have 8 bytes, the file has 4"},
        Attack{"{" + tensor("a", "F32", "[2]", "[0,4]") + "}", 4, "shape [2] of F32 needs 8 bytes"},
        Attack{"{" + tensor("a", "F32", "[1]", "[4,0]") + "}", 4, "'data_offsets' is [4,0]"},
        Attack{"{" + tensor("a", "F32", "[1]", "[0]") + "}", 4, "'data_offsets' is [0]"},
        Attack{"{" + tensor("a", "F32", "[1]", "[-4,0]") + "}", 4, "'data_offsets' is [-4,0]"},
        Attack{"{" + tensor("a", "F32", "[1]", "[0,4.0]") + "}", 4, "'data_offsets' is [0,4.0]"},
        Attack{"{" + tensor("a", "F32", "[-1]", "[0,4]") + "}", 4, "extent -1"},
        Attack{"{" + tensor("a", "F32", "[9223372036854775808]", "[0,4]") + "}", 4, "extent 9223372036854775808"},
        Attack{"{" + tensor("a", "F32", "[4611686018427387904,4]", "[0,0]") + "}", 0,
               "more bytes than can be addressed"},
        Attack{"{" + tensor("a", "F8_E4M3", "[1]", "[0,1]") + "}", 1, "dtype 'F8_E4M3' is not known; known: U8"},
        Attack{R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4, "'dtype' is missing"},
        Attack{R"({"a":3})", 0, "'dtype' is missing"},
        Attack{"{\"a\":" + std::string(100'000, '[') + "}", 0, "nested more than 3 deep"}));

// If reading or finding a tensor took time proportional to the number of tensors, this test would exceed the time limit
// of its program.
TEST(SafetensorsHeaderTest, ReadsAndFindsHundredThousandsOfTensors) {
  constexpr int kTensors = 100'000;
  std::string text = "{";
  for (int i = 0; i < kTensors; ++i) {
    text += (i == 0 ? "" : ",") + ("\"t" + std::to_string(i)) + R"(":{"dtype":"U8","shape":[1],"data_offsets":[)" +
            std::to_string(i) + "," + std::to_string(i + 1) + "]}";
  }
  const SafetensorsHeader header = parse_safetensors_header(text + "}", kTensors, "many.safetensors");
  ASSERT_EQ(header.tensors.size(), static_cast<std::size_t>(kTensors));
  for (int i = 0; i < kTensors; ++i) {
    const SafetensorsEntry* entry = header.find("t" + std::to_string(i));
    ASSERT_TRUE(entry != nullptr && entry->begin == static_cast<std::uint64_t>(i)) << i;
  }
  EXPECT_EQ(header.find("t"), nullptr);
}

TEST(SafetensorsHeaderTest, AHeaderLongerThanTheFileTakesNoMemory) {
  TemporaryDirectory directory;
  for (std::uint64_t size : {std::uint64_t{9}, std::uint64_t{100'000'000}, ~std::uint64_t{0}}) {
    std::string bytes(reinterpret_cast<const char*>(&size), sizeof size);
    testing::write_file(directory / "m", bytes + "{}      ");
    EXPECT_NE(error_of([&] { SafetensorsFile file(directory / "m"); }).find(": a header of " + std::to_string(size)),
              std::string::npos);
  }
  testing::write_file(directory / "m", "1234");
  EXPECT_EQ(error_of([&] { SafetensorsFile file(directory / "m"); }),
            (directory / "m") + ": 4 bytes are too few for a safetensors file");
}

}  // namespace
}  // namespace trainyard::checkpoints
