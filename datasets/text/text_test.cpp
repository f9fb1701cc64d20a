// SPDX-License-Identifier: Apache-2.0
#include "datasets/text/text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <numeric>

#include "datasets/testing/dataset_testing.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::Opened;
using testing::read_sample;
using testing::real_data;
using testing::TemporaryFolder;
using testing::values;

using Tokens = std::vector<std::int64_t>;

std::string parameters(const std::string& path, int context, double fraction = 0.5, const char* encoding = "utf-8") {
  return fmt::format(R"({{"path": "{}", "context": {}, "train_fraction": {}, "encoding": "{}"}})", path, context,
                     fraction, encoding);
}

TEST(TextTest, SampleIsAWindowAndItsTargetIsTheSameWindowOnePlaceOn) {
  TemporaryFolder folder;
  Opened<Text> text(parameters(folder.write("t", "abcdabcdbbaa"), 3));
  // Train is "abcdab", validate is "cdbbaa".
  EXPECT_EQ(values<std::int64_t>(read_sample(*text, "train", 0)[0]), Tokens({0, 1, 2}));
  EXPECT_EQ(values<std::int64_t>(read_sample(*text, "train", 0)[1]), Tokens({1, 2, 3}));
  EXPECT_EQ(values<std::int64_t>(read_sample(*text, "train", 2)[1]), Tokens({3, 0, 1}));
  EXPECT_EQ(values<std::int64_t>(read_sample(*text, "validate", 0)[0]), Tokens({2, 3, 1}));
  EXPECT_EQ(values<std::int64_t>(read_sample(*text, "validate", 2)[1]), Tokens({1, 0, 0}));
}

TEST(TextTest, InfoTellsFieldsSplitsVocabularyAndUnit) {
  TemporaryFolder folder;
  const DatasetInfo info = Opened<Text>(parameters(folder.write("t", "zyx zyx zyx"), 2))->info();
  ASSERT_EQ(info.splits.size(), 2u);
  EXPECT_EQ(info.splits[0].name, "train");
  EXPECT_EQ(info.splits[0].samples, 3u);  // There are int(0.5 * 11) = 5 characters.
  EXPECT_EQ(info.splits[1].samples, 4u);
  EXPECT_THAT(info.vocabulary, ElementsAre(" ", "x", "y", "z"));
  EXPECT_EQ(info.classes, 4u);
  EXPECT_EQ(info.unit, "token");
  EXPECT_EQ(info.units_per_sample, 2u);
  EXPECT_EQ(info.fields[1].name, "target");
  EXPECT_THAT(info.fields[1].shape, ElementsAre(2));
}

TEST(TextTest, EveryUnicodeCharacterIsOneToken) {
  TemporaryFolder folder;
  Opened<Text> text(parameters(folder.write("t", "aé€😀aé"), 5, 1));
  EXPECT_THAT(text->info().vocabulary, ElementsAre("a", "é", "€", "😀"));
  EXPECT_EQ(values<std::int64_t>(read_sample(*text, "train", 0)[0]), Tokens({0, 1, 2, 3, 0}));
}

TEST(TextTest, WithTrainFractionOneThereIsNoValidateSplit) {
  TemporaryFolder folder;
  EXPECT_EQ(Opened<Text>(parameters(folder.write("t", "abcdef"), 2, 1))->info().splits.size(), 1u);
}

TEST(TextTest, BytesEncodingTakesAnyFile) {
  TemporaryFolder folder;
  Opened<Text> text(parameters(folder.write("t", "\xff\x61\xe9\xff"), 3, 1, "bytes"));
  EXPECT_THAT(text->info().vocabulary, ElementsAre("a", "\\xe9", "\\xff"));
  EXPECT_EQ(values<std::int64_t>(read_sample(*text, "train", 0)[1]), Tokens({0, 1, 2}));
}

TEST(TextTest, WhatIsNotUtf8IsNamedWithFileAndOffset) {
  TemporaryFolder folder;
  // In this order: a stray continuation byte, a missing continuation byte, an overlong slash, a surrogate, a number
  // beyond the last code point, and a truncated sequence.
  for (const char* bad : {"\x80", "\xc3(", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    const std::string path = folder.write("bad", std::string("abcd") + bad);
    const auto [code, message] = error_of([&] { Opened<Text>(parameters(path, 2)); });
    EXPECT_EQ(code, Code::kCorrupt);
    EXPECT_THAT(message, HasSubstr(fmt::format("{} at offset 4: byte 0x{:02x}", path, bad[0] & 0xff)));
  }
}

TEST(TextTest, FilesOfAFolderAreJoinedInTheOrderOfTheirNames) {
  TemporaryFolder folder;
  folder.write("b", "34");
  folder.write("a", "12");
  folder.write("c", "5");
  Opened<Text> text(parameters(folder.path(""), 4, 1));
  EXPECT_EQ(values<std::int64_t>(read_sample(*text, "train", 0)[0]), Tokens({0, 1, 2, 3}));
  EXPECT_EQ(values<std::int64_t>(read_sample(*text, "train", 0)[1]), Tokens({1, 2, 3, 4}));
}

TEST(TextTest, LinksAreFollowedAndWhatIsNoFileIsSkipped) {
  TemporaryFolder elsewhere;
  TemporaryFolder folder;
  folder.write("b", "bb");
  std::filesystem::create_symlink(elsewhere.write("target", "aa"), folder.path("a"));
  std::filesystem::create_symlink(folder.path("nowhere"), folder.path("dangling"));
  std::filesystem::create_directory(folder.path("subfolder"));
  ASSERT_EQ(mkfifo(folder.path("pipe").c_str(), 0600), 0);  // Reading it would wait forever.
  Opened<Text> text(parameters(folder.path(""), 3, 1));
  EXPECT_EQ(values<std::int64_t>(read_sample(*text, "train", 0)[0]), Tokens({0, 0, 1}));
  EXPECT_EQ(text->info().attributes["characters"], "4");
}

TEST(TextTest, AFileWithTwoNamesIsReadOnce) {
  TemporaryFolder folder;
  std::filesystem::create_symlink(folder.write("name-2", "abcd"), folder.path("name"));
  EXPECT_EQ(Opened<Text>(parameters(folder.path(""), 2, 1))->info().attributes["characters"], "4");
}

TEST(TextTest, MissingAndEmptyPathsAreNamed) {
  TemporaryFolder folder;
  const auto missing = error_of([&] { Opened<Text>(parameters(folder.path("nothing"), 2)); });
  EXPECT_EQ(missing.first, Code::kNotFound);
  EXPECT_THAT(missing.second, HasSubstr("there is no file or folder " + folder.path("nothing")));
  const auto empty = error_of([&] { Opened<Text>(parameters(folder.path(""), 2)); });
  EXPECT_EQ(empty.first, Code::kNotFound);
  EXPECT_THAT(empty.second, HasSubstr("no regular file in the folder"));
  ASSERT_EQ(mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { Opened<Text>(parameters(folder.path("pipe"), 2)); }).first, Code::kInvalidArgument);
}

TEST(TextTest, ATextTooShortForItsContextSaysHowMuchIsNeeded) {
  TemporaryFolder folder;
  const std::string path = folder.write("t", "abcdefghij");
  const auto [code, message] = error_of([&] { Opened<Text>(parameters(path, 4, 0.9)); });
  EXPECT_EQ(code, Code::kInvalidArgument);
  EXPECT_THAT(message, HasSubstr("1 characters of " + path + " are for 'validate'"));
  EXPECT_THAT(message, HasSubstr("context = 4; allowed: at least 5"));
  EXPECT_EQ(error_of([&] { Opened<Text>(parameters(folder.write("empty", ""), 1, 1)); }).first, Code::kInvalidArgument);
}

TEST(TextTest, SamplesBeyondTheSplitAreRefused) {
  TemporaryFolder folder;
  Opened<Text> text(parameters(folder.write("t", "abcdef"), 2, 1));
  EXPECT_THAT(error_of([&] { read_sample(*text, "train", 4); }).second,
              HasSubstr("no sample 4 in the split 'train', which has 4"));
  EXPECT_THAT(error_of([&] { read_sample(*text, "test", 0); }).second, HasSubstr("no sample 0 in the split 'test'"));
}

TEST(TextTest, TinyShakespeareHas65Characters) {
  const std::string path = real_data("tinyshakespeare/input.txt");
  if (path.empty()) GTEST_SKIP() << "set TRAINYARD_TEST_DATA to a folder with tinyshakespeare/input.txt";
  Opened<Text> text(parameters(path, 64, 0.9));
  const DatasetInfo info = text->info();
  EXPECT_EQ(info.classes, 65u);
  EXPECT_EQ(info.vocabulary.front(), "\n");
  EXPECT_EQ(info.vocabulary.back(), "z");
  EXPECT_EQ(info.splits[0].samples, 1003854u - 64);  // The sizes that nanoGPT's prepare.py prints, minus the context.
  EXPECT_EQ(info.splits[1].samples, 111540u - 64);
  std::string first;
  for (const std::int64_t token : values<std::int64_t>(read_sample(*text, "train", 0)[0])) {
    first += info.vocabulary.at(static_cast<std::size_t>(token));
  }
  EXPECT_EQ(first.substr(0, 14), "First Citizen:");
}

}  // namespace
}  // namespace trainyard
