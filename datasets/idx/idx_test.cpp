// SPDX-License-Identifier: Apache-2.0
#include "datasets/idx/idx.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "datasets/testing/dataset_testing.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::FloatEq;
using ::testing::HasSubstr;
using testing::Opened;
using testing::read_sample;
using testing::real_data;
using testing::TemporaryFolder;
using testing::values;
using namespace std::string_literals;

/// `count` images of 1 x 2 pixels; image i has the pixels i and 255 - i.
std::string images(int count) {
  std::string bytes = "\0\0\x08\x03\0\0\0"s + static_cast<char>(count) + "\0\0\0\1\0\0\0\2"s;
  for (int i = 0; i < count; ++i) bytes += {static_cast<char>(i), static_cast<char>(255 - i)};
  return bytes;
}

/// Label i is i modulo 4.
std::string labels(int count) {
  std::string bytes = "\0\0\x08\x01\0\0\0"s + static_cast<char>(count);
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(i % 4);
  return bytes;
}

std::string two_files(const TemporaryFolder& folder, const std::string& more) {
  return fmt::format(R"({{"images": "{}", "labels": "{}"{}}})", folder.write("i", images(10)),
                     folder.write("l", labels(10)), more);
}

std::string in_folder(const TemporaryFolder& folder) {
  return fmt::format(R"({{"folder": "{}", "mean": 0, "std": 1}})", folder.path(""));
}

std::map<std::string, std::uint64_t> samples_of(const DatasetInfo& info) {
  std::map<std::string, std::uint64_t> samples;
  for (const SplitInfo& split : info.splits) samples[split.name] = split.samples;
  return samples;
}

TEST(IdxTest, TheFirstSamplesTrainAndTheOthersValidate) {
  TemporaryFolder folder;
  Opened<Idx> idx(two_files(folder, R"(, "train_count": 7, "mean": 0, "std": 1)"));
  EXPECT_THAT(samples_of(idx->info()), ElementsAre(std::pair("train", 7), std::pair("validate", 3)));
  EXPECT_EQ(values<std::int64_t>(read_sample(*idx, "train", 6)[1]), std::vector<std::int64_t>{2});
  EXPECT_EQ(values<std::int64_t>(read_sample(*idx, "validate", 0)[1]), std::vector<std::int64_t>{3});
  EXPECT_THAT(values<float>(read_sample(*idx, "validate", 0)[0]),
              ElementsAre(FloatEq(7 / 255.f), FloatEq(248 / 255.f)));
}

TEST(IdxTest, InfoTellsShapesAndClasses) {
  TemporaryFolder folder;
  const DatasetInfo info = Opened<Idx>(two_files(folder, ""))->info();
  EXPECT_THAT(info.fields[0].shape, ElementsAre(1, 1, 2));
  EXPECT_EQ(info.fields[1].shape.size(), 0u);
  EXPECT_EQ(info.classes, 4u);
  EXPECT_THAT(info.vocabulary, ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(samples_of(info), ElementsAre(std::pair("train", 10)));
  const DatasetInfo flat = Opened<Idx>(two_files(folder, R"(, "flatten": true)"))->info();
  EXPECT_THAT(flat.fields[0].shape, ElementsAre(2));
}

TEST(IdxTest, PixelsAreScaledThenNormalised) {
  TemporaryFolder folder;
  Opened<Idx> idx(two_files(folder, R"(, "mean": 0.5, "std": 0.25)"));
  EXPECT_THAT(values<float>(read_sample(*idx, "train", 0)[0]), ElementsAre(FloatEq(-2), FloatEq(2)));
}

TEST(IdxTest, AFolderWithBothSetsTrainsOnOneAndTestsOnTheOther) {
  TemporaryFolder folder;
  folder.write("train-images-idx3-ubyte", images(10));
  folder.write("train-labels-idx1-ubyte", labels(10));
  folder.write("t10k-images-idx3-ubyte", images(5));
  folder.write("t10k-labels-idx1-ubyte", labels(5));
  Opened<Idx> idx(in_folder(folder));
  EXPECT_THAT(samples_of(idx->info()), ElementsAre(std::pair("test", 5), std::pair("train", 10)));
  EXPECT_EQ(values<std::int64_t>(read_sample(*idx, "test", 4)[1]), std::vector<std::int64_t>{0});
}

TEST(IdxTest, AFolderWithOneSetAloneUsesIt) {
  TemporaryFolder folder;
  folder.write("t10k-images-idx3-ubyte", images(5));
  folder.write("t10k-labels-idx1-ubyte", labels(5));
  EXPECT_THAT(samples_of(Opened<Idx>(in_folder(folder))->info()), ElementsAre(std::pair("train", 5)));
}

TEST(IdxTest, AFolderWithoutFilesSaysWhatWasLookedFor) {
  TemporaryFolder folder;
  const auto [code, message] = error_of([&] { Opened<Idx> idx(in_folder(folder)); });
  EXPECT_EQ(code, Code::kNotFound);
  EXPECT_THAT(message, HasSubstr("looked for train-images-idx3-ubyte"));
}

TEST(IdxTest, ParametersThatDoNotGoTogetherAreRefused) {
  TemporaryFolder folder;
  for (const char* given : {"{}", R"({"images": "a"})", R"({"labels": "b"})", R"({"images": "a", "folder": "c"})",
                            R"({"images": "a", "labels": "b", "folder": "c"})"}) {
    const auto [code, message] = error_of([&] { Opened<Idx> idx(given); });
    EXPECT_EQ(code, Code::kInvalidArgument) << given;
    EXPECT_THAT(message, HasSubstr("allowed: both files, or a folder")) << given;
  }
  EXPECT_THAT(error_of([&] { Opened<Idx> idx(two_files(folder, R"(, "train_count": 11)")); }).second,
              HasSubstr("train_count = 11, but"));
}

TEST(IdxTest, CountsThatDifferAreShown) {
  TemporaryFolder folder;
  const std::string given =
      fmt::format(R"({{"images": "{}", "labels": "{}"}})", folder.write("i", images(10)), folder.write("l", labels(9)));
  const auto [code, message] = error_of([&] { Opened<Idx> idx(given); });
  EXPECT_EQ(code, Code::kShapeMismatch);
  EXPECT_THAT(message, HasSubstr("has 10 images"));
  EXPECT_THAT(message, HasSubstr("has 9 labels"));
}

TEST(IdxTest, UnknownSplitsAndSamplesAreRefused) {
  TemporaryFolder folder;
  Opened<Idx> idx(two_files(folder, R"(, "train_count": 7)"));
  EXPECT_THAT(error_of([&] { read_sample(*idx, "validates", 0); }).second, HasSubstr("did you mean 'validate'?"));
  EXPECT_THAT(error_of([&] { read_sample(*idx, "validate", 3); }).second, HasSubstr("no sample 3"));
}

TEST(IdxTest, RealDigitsHaveTheirKnownShapeAndLabels) {
  const std::string path = real_data("mnist");
  if (path.empty()) GTEST_SKIP() << "set TRAINYARD_TEST_DATA to a folder with mnist/";
  Opened<Idx> idx(fmt::format(R"({{"folder": "{}", "train_count": 9000, "mean": 0, "std": 1}})", path));
  const DatasetInfo info = idx->info();
  EXPECT_THAT(samples_of(info), ElementsAre(std::pair("train", 9000), std::pair("validate", 1000)));
  EXPECT_THAT(info.fields[0].shape, ElementsAre(1, 28, 28));
  EXPECT_EQ(info.classes, 10u);
  std::vector<std::int64_t> first;
  double ink = 0;
  for (std::uint64_t i = 0; i < 9000; ++i) {
    const auto sample = read_sample(*idx, "train", i);
    if (i < 5) first.push_back(values<std::int64_t>(sample[1])[0]);
    for (const float pixel : sample[0].as<float>()) ink += pixel;
  }
  EXPECT_THAT(first, ElementsAre(7, 2, 1, 0, 4));  // The well-known first digits of the test set.
  EXPECT_NEAR(ink / 9000 / 784, 0.1325, 0.004);    // The test set's mean brightness.
}

}  // namespace
}  // namespace trainyard
