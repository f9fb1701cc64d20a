// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "checkpoints/manifest.h"
#include "checkpoints/run_record.h"
#include "checkpoints/safetensors.h"
#include "checkpoints/testing/files.h"
#include "messages/tensor.h"

// These tests give damaged and hostile bytes to the parsers. A parser must either return a result that meets the
// requirements of the format or throw an Error. The seeds are fixed, so that a failure can be repeated.

namespace trainyard::checkpoints {
namespace {

using testing::TemporaryDirectory;

std::string header_of_three_tensors() {
  return R"({"__metadata__":{"format":"trainyard"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
         R"("b":{"dtype":"F32","shape":[],"data_offsets":[24,28]},"c":{"dtype":"U8","shape":[0],"data_offsets":[28,28]}})";
}

/// Returns the text with a few bytes replaced, removed or doubled.
std::string mutated(std::string text, std::mt19937& random) {
  static constexpr std::string_view kLikely = "{}[]\",:0123456789-.eE\\ \xff";
  for (std::size_t i = 1 + random() % 4; i > 0 && !text.empty(); --i) {
    const std::size_t at = random() % text.size();
    switch (random() % 3) {
      case 0:
        text[at] = kLikely[random() % kLikely.size()];
        break;
      case 1:
        text.erase(at, 1 + random() % 3);
        break;
      default:
        text.insert(at, text.substr(at, random() % 12));
        break;
    }
  }
  return text;
}

void expect_promises(const SafetensorsHeader& header, std::uint64_t data_bytes) {
  std::uint64_t position = 0;
  for (const SafetensorsEntry& entry : header.tensors) {
    ASSERT_EQ(entry.begin, position);
    ASSERT_EQ(entry.end - entry.begin, checked_bytes(entry.dtype, entry.shape));
    position = entry.end;
  }
  ASSERT_EQ(position, data_bytes);
}

TEST(SafetensorsFuzzTest, AMutatedHeaderKeepsThePromisesOrIsRefused) {
  std::mt19937 random(11);
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    try {
      const std::string text = mutated(header_of_three_tensors(), random);
      expect_promises(parse_safetensors_header(text, 28, "fuzz"), 28);
      ++accepted;
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == Code::kCorrupt || error.code() == Code::kUnsupported) << error.what();
    }
  }
  EXPECT_GT(accepted, 0) << "harmless mutations, of a name for one, must not be refused";
}

TEST(SafetensorsFuzzTest, EveryTruncationOfAFileIsRefused) {
  TemporaryDirectory directory;
  const std::vector<float> values = {1, 2, 3};
  write_safetensors(directory / "m", {{"w", DType::kFloat32, {3}, std::as_bytes(std::span(values))}}, {});
  const std::string good = testing::read_file(directory / "m");
  for (std::size_t size = 0; size < good.size(); ++size) {
    testing::write_file(directory / "m", good.substr(0, size));
    EXPECT_THROW(SafetensorsFile file(directory / "m"), Error) << size;
  }
}

TEST(SafetensorsFuzzTest, RandomTensorsReadBack) {
  std::mt19937 random(5);
  TemporaryDirectory directory;
  for (int round = 0; round < 20; ++round) {
    std::vector<Tensor> tensors;
    std::vector<SafetensorsTensor> written;
    for (std::size_t i = 0; i < random() % 8; ++i) {
      std::vector<std::int64_t> shape;
      for (std::size_t d = 0; d < random() % 4; ++d) shape.push_back(static_cast<std::int64_t>(random() % 5));
      Tensor tensor = Tensor::empty(static_cast<DType>(random() % 10), shape);
      for (std::byte& byte : std::span(tensor.data(), tensor.bytes())) byte = static_cast<std::byte>(random());
      written.push_back({"t" + std::to_string(i), tensor.dtype, shape, std::span(tensor.data(), tensor.bytes())});
      tensors.push_back(std::move(tensor));
    }
    const std::string path = directory / ("m" + std::to_string(round));
    write_safetensors(path, written, {});
    const SafetensorsFile file(path);
    ASSERT_EQ(file.header().tensors.size(), written.size());
    for (const SafetensorsTensor& tensor : written) {
      const SafetensorsEntry* entry = file.header().find(tensor.name);
      ASSERT_NE(entry, nullptr);
      EXPECT_EQ(entry->dtype, tensor.dtype);
      EXPECT_EQ(entry->shape, tensor.shape);
      std::vector<std::byte> bytes(tensor.data.size());
      file.read(*entry, bytes);
      EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), tensor.data.begin()));
    }
  }
}

/// Calls a parser with many mutations of a text that it accepts.
template <class Parse>
void fuzz(const std::string& good, Parse parse) {
  std::mt19937 random(7);
  for (int i = 0; i < 5'000; ++i) {
    try {
      parse(mutated(good, random));
    } catch (const Error&) {
    }
  }
}

TEST(CheckpointJsonFuzzTest, AMutatedManifestIsReadOrRefused) {
  const Manifest manifest{.trainyard = "0.1", .files = {{"model.safetensors", {12, "ab"}}, {"run.json", {3, "cd"}}}};
  fuzz(format_manifest(manifest), [](const std::string& text) {
    for (const auto& [name, digest] : parse_manifest(text, "fuzz").files) ASSERT_EQ(name.find('/'), std::string::npos);
  });
}

TEST(CheckpointJsonFuzzTest, AMutatedRunRecordIsReadOrRefused) {
  const RunRecord record{.step = 3,
                         .metrics = {{"loss", 0.5}},
                         .states = {{.owner = "a", .values = "{}"}},
                         .hyperparameters = {{"beta1", 0.9}}};
  fuzz(format_run_record(record), [](const std::string& text) { parse_run_record(text, "fuzz"); });
}

}  // namespace
}  // namespace trainyard::checkpoints
