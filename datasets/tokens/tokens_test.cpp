// SPDX-License-Identifier: Apache-2.0
#include "datasets/tokens/tokens.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
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

using Numbers = std::vector<std::int64_t>;

std::string tokens(int first, int count) {
  std::string bytes;
  for (int token = first; token < first + count; ++token) {
    bytes += {static_cast<char>(token & 0xff), static_cast<char>(token >> 8)};
  }
  return bytes;
}

std::string parameters(const std::string& path, int context, int vocabulary, const std::string& more = "") {
  return fmt::format(R"({{"path": "{}", "context": {}, "vocabulary": {}{}}})", path, context, vocabulary, more);
}

TEST(TokensTest, AFoldersFilesAreTheSplitsAndTargetsAreOnePlaceOn) {
  TemporaryFolder folder;
  folder.write("train.bin", tokens(250, 10));  // The token numbers go beyond 255, so both bytes are used.
  folder.write("val.bin", tokens(500, 5));
  Opened<Tokens> data(parameters(folder.path(""), 3, 600));
  const DatasetInfo info = data->info();
  ASSERT_EQ(info.splits.size(), 2u);
  EXPECT_EQ(info.splits[0].samples, 7u);
  EXPECT_EQ(info.splits[1].name, "validate");
  EXPECT_EQ(info.splits[1].samples, 2u);
  EXPECT_EQ(values<std::int64_t>(read_sample(*data, "train", 6)[0]), Numbers({256, 257, 258}));
  EXPECT_EQ(values<std::int64_t>(read_sample(*data, "train", 6)[1]), Numbers({257, 258, 259}));
  EXPECT_EQ(values<std::int64_t>(read_sample(*data, "validate", 1)[1]), Numbers({502, 503, 504}));
}

TEST(TokensTest, InfoTellsWhatLanguageModelsAskFor) {
  TemporaryFolder folder;
  const DatasetInfo info = Opened<Tokens>(parameters(folder.write("t", tokens(0, 400)), 4, 50257))->info();
  EXPECT_EQ(info.classes, 50257u);
  EXPECT_EQ(info.unit, "token");
  EXPECT_EQ(info.units_per_sample, 4u);
  EXPECT_EQ(info.fields[0].name, "input");
  EXPECT_THAT(info.fields[1].shape, ElementsAre(4));
}

TEST(TokensTest, ASingleFileIsCutAtItsFraction) {
  TemporaryFolder folder;
  const std::string path = folder.write("all.bin", tokens(0, 20));
  Opened<Tokens> data(parameters(path, 2, 20, R"(, "train_fraction": 0.7)"));
  EXPECT_EQ(data->info().splits[0].samples, 12u);
  EXPECT_EQ(values<std::int64_t>(read_sample(*data, "validate", 0)[0]), Numbers({14, 15}));
  EXPECT_EQ(Opened<Tokens>(parameters(path, 2, 20, R"(, "train_fraction": 1)"))->info().splits.size(), 1u);
}

/// The file is written in the same way as by nanoGPT's scripts, and the expected samples are computed as in nanoGPT's
/// training loop.
TEST(TokensTest, ReadsWhatNumpyWrites) {
  if (!testing::python_has("numpy")) GTEST_SKIP() << "needs /usr/bin/python3 with numpy (Debian: python3-numpy)";
  TemporaryFolder folder;
  const std::string printed = testing::python(R"(
import numpy, sys
numpy.random.default_rng(3).integers(0, 65536, 1000).astype(numpy.uint16).tofile(sys.argv[1])
data = numpy.memmap(sys.argv[1], dtype=numpy.uint16, mode="r")
print(*data[700:704].astype(numpy.int64), *data[701:705].astype(numpy.int64))
)",
                                              folder.path("train.bin"));
  Opened<Tokens> data(parameters(folder.path(""), 4, 65536));
  const auto sample = read_sample(*data, "train", 700);
  EXPECT_EQ(printed, fmt::format("{} {}\n", fmt::join(values<std::int64_t>(sample[0]), " "),
                                 fmt::join(values<std::int64_t>(sample[1]), " ")));
}

TEST(TokensTest, AnOddNumberOfBytesIsNamedWithTheOffset) {
  TemporaryFolder folder;
  const std::string path = folder.write("train.bin", tokens(0, 9) + "x");
  const auto [code, message] = error_of([&] { Opened<Tokens> data(parameters(folder.path(""), 2, 10)); });
  EXPECT_EQ(code, Code::kCorrupt);
  EXPECT_EQ(message, path + " at offset 18: half a token; allowed: an even number of bytes, there are 19");
}

TEST(TokensTest, ATokenBeyondTheVocabularyIsNamedWithItsOffset) {
  TemporaryFolder folder;
  const std::string path = folder.write("train.bin", tokens(0, 30));
  Opened<Tokens> data(parameters(folder.path(""), 4, 20));
  EXPECT_NO_THROW(
      read_sample(*data, "train", 15));  // The sample contains the tokens 15 to 18, and 19 as the last target.
  const auto [code, message] = error_of([&] { read_sample(*data, "train", 17); });
  EXPECT_EQ(code, Code::kCorrupt);
  EXPECT_EQ(message, path + " at offset 40: token 20; allowed: 0 to 19 (vocabulary = 20)");
}

TEST(TokensTest, TooFewTokensMissingFilesAndUnknownSplitsAreNamed) {
  TemporaryFolder folder;
  const std::string path = folder.write("train.bin", tokens(0, 4));
  EXPECT_THAT(
      error_of([&] { Opened<Tokens> data(parameters(folder.path(""), 4, 10)); }).second,
      HasSubstr("4 tokens of " + path + " are for 'train', which is too few for context = 4; allowed: at least 5"));
  EXPECT_EQ(error_of([&] { Opened<Tokens> data(parameters(folder.path("none"), 4, 10)); }).first, Code::kNotFound);
  EXPECT_THAT(error_of([&] { Opened<Tokens> data(parameters(folder.write("empty", ""), 1, 10)); }).second,
              HasSubstr("0 tokens"));
  Opened<Tokens> data(parameters(folder.path(""), 2, 10));
  EXPECT_THAT(error_of([&] { read_sample(*data, "trian", 0); }).second, HasSubstr("did you mean 'train'?"));
  EXPECT_THAT(error_of([&] { read_sample(*data, "train", 2); }).second, HasSubstr("no sample 2"));
}

}  // namespace
}  // namespace trainyard
