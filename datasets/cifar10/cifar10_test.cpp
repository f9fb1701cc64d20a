// SPDX-License-Identifier: Apache-2.0
#include "datasets/cifar10/cifar10.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/python.h"
#include "datasets/testing/dataset_testing.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::Opened;
using testing::read_sample;
using testing::TemporaryFolder;
using testing::values;

/// Returns `count` records, whose values identify them: record i has label i modulo 10, and its pixel p is (i + p)
/// modulo 256.
std::string records(int first, int count) {
  std::string bytes;
  for (int i = first; i < first + count; ++i) {
    bytes += static_cast<char>(i % 10);
    for (int pixel = 0; pixel < 3072; ++pixel) bytes += static_cast<char>(i + pixel);
  }
  return bytes;
}

/// Writes two files with 7 and 5 records, and a test file with 4 records, whose numbers begin at 100.
std::string small_folder(const TemporaryFolder& folder, const std::string& more = "") {
  folder.write("data_batch_1.bin", records(0, 7));
  folder.write("data_batch_2.bin", records(7, 5));
  folder.write("test_batch.bin", records(100, 4));
  return fmt::format(R"({{"folder": "{}", "files": 2{}}})", folder.path(""), more);
}

/// Returns the first pixel of a sample, which is the number of the record.
int number(Cifar10& data, const char* split, std::uint64_t index) {
  return values<std::uint8_t>(read_sample(data, split, index)[0])[0];
}

TEST(Cifar10Test, FilesAreOneSequenceOfWhichTheFirstSamplesTrain) {
  TemporaryFolder folder;
  Opened<Cifar10> data(small_folder(folder, R"(, "train_count": 9)"));
  const DatasetInfo info = data->info();
  ASSERT_EQ(info.splits.size(), 3u);
  EXPECT_EQ(info.splits[0].samples, 9u);
  EXPECT_EQ(info.splits[1].name, "validate");
  EXPECT_EQ(info.splits[1].samples, 3u);
  EXPECT_EQ(info.splits[2].name, "test");
  EXPECT_EQ(info.splits[2].samples, 4u);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(number(*data, "train", static_cast<std::uint64_t>(i)), i);
  EXPECT_EQ(number(*data, "validate", 0), 9);
  EXPECT_EQ(number(*data, "validate", 2), 11);
  EXPECT_EQ(number(*data, "test", 3), 103);
  EXPECT_EQ(values<std::int64_t>(read_sample(*data, "test", 3)[1])[0], 3);
}

TEST(Cifar10Test, WithoutTrainCountAllTrainsAndWithoutTestFileThereIsNoTest) {
  TemporaryFolder folder;
  folder.write("data_batch_1.bin", records(0, 3));
  Opened<Cifar10> data(fmt::format(R"({{"folder": "{}", "files": 1}})", folder.path("")));
  const DatasetInfo info = data->info();
  ASSERT_EQ(info.splits.size(), 1u);
  EXPECT_EQ(info.splits[0].samples, 3u);
  EXPECT_THAT(info.fields[0].shape, ElementsAre(3, 32, 32));
  EXPECT_EQ(info.fields[0].dtype, static_cast<std::uint8_t>(DType::kUInt8));
  EXPECT_EQ(info.classes, 10u);
  EXPECT_EQ(info.vocabulary[9], "truck");
}

/// torchvision reads the files by reshaping an array of records with numpy; this test does the same.
TEST(Cifar10Test, PixelsLieAsNumpyReshapesThem) {
  if (!testing::python_has("numpy")) GTEST_SKIP() << "needs /usr/bin/python3 with numpy (Debian: python3-numpy)";
  TemporaryFolder folder;
  const std::string printed = testing::python(R"(
import numpy, sys
records = numpy.random.default_rng(5).integers(0, 256, (6, 3073), dtype=numpy.uint8)
records[:, 0] %= 10
records.tofile(sys.argv[1])
images = records[:, 1:].reshape(-1, 3, 32, 32)
print(records[4, 0], images[4, 0, 0, 31], images[4, 1, 7, 9], images[4, 2, 31, 0])
)",
                                              folder.path("data_batch_1.bin"));
  Opened<Cifar10> data(fmt::format(R"({{"folder": "{}", "files": 1}})", folder.path("")));
  const auto sample = read_sample(*data, "train", 4);
  const auto pixels = values<std::uint8_t>(sample[0]);
  const auto pixel = [&](int channel, int row, int column) {
    return pixels[static_cast<std::size_t>((channel * 32 + row) * 32 + column)];
  };
  EXPECT_EQ(printed, fmt::format("{} {} {} {}\n", values<std::int64_t>(sample[1])[0], pixel(0, 0, 31), pixel(1, 7, 9),
                                 pixel(2, 31, 0)));
}

TEST(Cifar10Test, AFileCutOffAnywhereInARecordIsNamedWithTheOffset) {
  TemporaryFolder folder;
  const std::string parameters = small_folder(folder);
  const std::string whole = records(7, 5);
  for (const std::size_t size : {0u, 1u, 3072u, 3074u, 5u * 3073u - 1}) {
    const std::string path = folder.write("data_batch_2.bin", whole.substr(0, size));
    const auto [code, message] = error_of([&] { Opened<Cifar10> data(parameters); });
    EXPECT_EQ(code, Code::kCorrupt) << size;
    EXPECT_EQ(message, fmt::format("{} at offset {}: the file ends after {} bytes of a record; a record has 3073 bytes",
                                   path, size / 3073 * 3073, size % 3073));
  }
}

TEST(Cifar10Test, ALabelBeyondNineIsNamedWithItsOffset) {
  TemporaryFolder folder;
  const std::string parameters = small_folder(folder);
  std::string bytes = records(100, 4);
  bytes[2 * 3073] = 10;
  const std::string path = folder.write("test_batch.bin", bytes);
  EXPECT_EQ(error_of([&] { Opened<Cifar10> data(parameters); }).second,
            path + " at offset 6146: label 10; allowed: 0 to 9");
}

TEST(Cifar10Test, AMissingFileATooLargeCountAndAnUnknownSplitAreNamed) {
  TemporaryFolder folder;
  const std::string parameters = small_folder(folder);
  const auto missing = error_of([&] { Opened<Cifar10> data(fmt::format(R"({{"folder": "{}"}})", folder.path(""))); });
  EXPECT_EQ(missing.first, Code::kNotFound);
  EXPECT_THAT(missing.second, HasSubstr("data_batch_3.bin"));
  EXPECT_THAT(error_of([&] { Opened<Cifar10> data(small_folder(folder, R"(, "train_count": 13)")); }).second,
              HasSubstr("train_count = 13, but"));
  Opened<Cifar10> data(parameters);
  EXPECT_THAT(error_of([&] { read_sample(*data, "validate", 0); }).second, HasSubstr("known: test, train"));
  EXPECT_THAT(error_of([&] { read_sample(*data, "test", 4); }).second, HasSubstr("no sample 4"));
}

}  // namespace
}  // namespace trainyard
