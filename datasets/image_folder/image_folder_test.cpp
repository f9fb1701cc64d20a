// SPDX-License-Identifier: Apache-2.0
#include "datasets/image_folder/image_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "core/random/random.h"
#include "core/testing/python.h"
#include "datasets/testing/dataset_testing.h"
#include "datasets/testing/files.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::Opened;
using testing::read_sample;
using testing::TemporaryFolder;
using testing::values;

/// Writes empty files, because listing does not read them.
void touch(const TemporaryFolder& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    std::filesystem::create_directories(std::filesystem::path(folder.path(name)).parent_path());
    folder.write(name, "");
  }
}

std::string parameters(const TemporaryFolder& folder, const std::string& more = "") {
  return fmt::format(R"({{"folder": "{}", "size": 4{}}})", folder.path(""), more);
}

std::vector<std::string> listed(const TemporaryFolder& folder) {
  std::vector<std::string> names;
  for (const image_folder::PictureFile& file : image_folder::scan_pictures(folder.path("")).files) {
    names.push_back(fmt::format("{} {}", file.path.substr(folder.path("").size()), file.label));
  }
  return names;
}

/// Compares with the algorithm of torchvision's make_dataset, written in Python.
TEST(ImageFolderTest, FilesAndClassesHaveTorchvisionsNumbers) {
  if (!testing::python_has("os")) GTEST_SKIP() << "needs /usr/bin/python3";
  TemporaryFolder folder;
  touch(folder, {"dog/b.jpg", "dog/a.PNG", "dog/a-b/z.jpeg", "dog/a/y.png", "dog/notes.txt", "Cat/1.jpg", "Cat/10.jpg",
                 "Cat/2.JPG", "äffchen/x.png", "beside.png"});
  const std::string printed = testing::python(R"(
import os, sys
folder = sys.argv[1]
classes = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
for label, name in enumerate(classes):
    for root, _, names in sorted(os.walk(os.path.join(folder, name), followlinks=True)):
        for file in sorted(names):
            if file.lower().endswith((".jpg", ".jpeg", ".png")):
                print(os.path.relpath(os.path.join(root, file), folder), label)
)",
                                              folder.path(""));
  std::string ours;
  for (const std::string& line : listed(folder)) ours += line + "\n";
  EXPECT_EQ(ours, printed);
  EXPECT_THAT(image_folder::scan_pictures(folder.path("")).classes, ElementsAre("Cat", "dog", "äffchen"));
}

TEST(ImageFolderTest, FoldersOfSplitsAreTheSplits) {
  TemporaryFolder folder;
  touch(folder, {"train/a/1.png", "train/b/2.png", "train/b/3.png", "val/a/4.png", "val/b/5.png", "test/a/6.png",
                 "test/b/7.png"});
  const DatasetInfo info = Opened<ImageFolder>(parameters(folder))->info();
  ASSERT_EQ(info.splits.size(), 3u);
  EXPECT_EQ(info.splits[0].samples, 3u);
  EXPECT_EQ(info.splits[1].name, "validate");
  EXPECT_EQ(info.splits[2].name, "test");
  EXPECT_EQ(info.classes, 2u);
  EXPECT_THAT(info.vocabulary, ElementsAre("a", "b"));
  EXPECT_THAT(info.fields[0].shape, ElementsAre(3, 4, 4));
  std::filesystem::create_directory(folder.path("val/c"));
  folder.write("val/c/8.png", "");
  EXPECT_THAT(error_of([&] { Opened<ImageFolder> data(parameters(folder)); }).second,
              HasSubstr("val is 'c', but of the split 'train' it is none; allowed: the same classes"));
}

TEST(ImageFolderTest, FoldersOfSplitsWithoutATrainFolderAreRefused) {
  TemporaryFolder folder;
  touch(folder, {"test/a/1.png", "test/b/2.png"});
  const auto [code, text] = error_of([&] { Opened<ImageFolder> data(parameters(folder)); });
  EXPECT_EQ(code, Code::kNotFound);
  EXPECT_THAT(text, HasSubstr("has a folder 'test' of a split, but no folder 'train'"));
}

TEST(ImageFolderTest, AClassMayBeNamedTest) {
  TemporaryFolder folder;
  touch(folder, {"quiz/1.png", "quiz/2.png", "test/3.png", "test/more/4.png"});
  const DatasetInfo info = Opened<ImageFolder>(parameters(folder, R"(, "validate_fraction": 0)"))->info();
  EXPECT_THAT(info.vocabulary, ElementsAre("quiz", "test"));
}

TEST(ImageFolderTest, AFolderOfClassesIsDividedByItsOwnSeed) {
  TemporaryFolder folder;
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back(fmt::format("{}/{:02}.png", i % 2 == 0 ? "a" : "b", i));
  touch(folder, names);
  const auto samples = [&](const std::string& more, std::uint64_t seed) {
    const DatasetInfo info = Opened<ImageFolder>(parameters(folder, more), seed)->info();
    return std::pair(info.splits[0].samples, info.splits.size() > 1 ? info.splits[1].samples : 0);
  };
  EXPECT_EQ(samples("", 1), std::pair(36ul, 4ul));
  EXPECT_EQ(samples(R"(, "validate_fraction": 0.5)", 1), std::pair(20ul, 20ul));
  EXPECT_EQ(samples(R"(, "validate_fraction": 0)", 1), std::pair(40ul, 0ul));
}

TEST(ImageFolderTest, EveryPictureComesWithItsLabel) {
  if (!testing::python_has("PIL.Image")) GTEST_SKIP() << "needs /usr/bin/python3 with PIL (Debian: python3-pil)";
  TemporaryFolder folder;
  testing::python(R"(
import os, sys
from PIL import Image
for i in range(10):
    name = f"{sys.argv[1]}/{'ab'[i % 2]}"
    os.makedirs(name, exist_ok=True)
    Image.new("RGB", (9 + i, 7), (10 * i, 5, 255 - i)).save(f"{name}/{i}.png")
)",
                  folder.path(""));
  Opened<ImageFolder> data(parameters(folder, R"(, "validate_fraction": 0.3)"));
  std::set<int> seen;
  for (const SplitInfo& split : data->info().splits) {
    for (std::uint64_t index = 0; index < split.samples; ++index) {
      const auto sample = read_sample(*data, split.name, index);
      const auto pixels = values<std::uint8_t>(sample[0]);
      const int number = pixels[0] / 10;
      EXPECT_EQ(pixels[16], 5);
      EXPECT_EQ(pixels[47], 255 - number);
      EXPECT_EQ(values<std::int64_t>(sample[1])[0], number % 2);
      seen.insert(number);
    }
  }
  EXPECT_EQ(seen.size(), 10u);
}

TEST(ImageFolderTest, ABrokenPictureIsNamedAndTheNextOneIsReadAllTheSame) {
  if (!testing::python_has("PIL.Image")) GTEST_SKIP() << "needs /usr/bin/python3 with PIL (Debian: python3-pil)";
  TemporaryFolder folder;
  touch(folder, {"a/1.jpg"});
  testing::python("import sys; from PIL import Image; Image.new('RGB', (64, 64)).save(sys.argv[1])",
                  folder.path("a/2.jpg"));
  const std::string broken = folder.write("a/1.jpg", testing::bytes_of(folder.path("a/2.jpg")).substr(0, 630));
  Opened<ImageFolder> data(parameters(folder, R"(, "validate_fraction": 0)"));
  for (int i = 0; i < 2; ++i) {
    const auto [code, message] = error_of([&] { read_sample(*data, "train", 0); });
    EXPECT_EQ(code, Code::kCorrupt);
    EXPECT_THAT(message, HasSubstr(broken + " at offset "));
    EXPECT_NO_THROW(read_sample(*data, "train", 1));
  }
}

TEST(ImageFolderTest, MissingFoldersEmptyClassesAndUnknownSplitsAreNamed) {
  TemporaryFolder folder;
  const auto message = [&](const std::string& more = "") {
    return error_of([&] { Opened<ImageFolder> data(parameters(folder, more)); }).second;
  };
  EXPECT_THAT(message(), HasSubstr("has no folders; allowed: one folder for every class"));
  touch(folder, {"a/1.png", "b/notes.txt"});
  EXPECT_THAT(message(), HasSubstr("there is no picture in " + folder.path("b") + "; looked for .jpg"));
  std::filesystem::remove_all(folder.path("b"));
  std::filesystem::create_directory_symlink(folder.path("a"), folder.path("a/again"));
  EXPECT_THAT(message(), HasSubstr("nested more than 32 deep; does a link lead back?"));
  std::filesystem::remove(folder.path("a/again"));
  EXPECT_THAT(message(R"(, "validate_fraction": 0.9)"), HasSubstr("of the 1 pictures"));
  Opened<ImageFolder> data(parameters(folder));
  EXPECT_THAT(error_of([&] { read_sample(*data, "validate", 0); }).second, HasSubstr("no split named 'validate'"));
  EXPECT_EQ(error_of([] { Opened<ImageFolder> data(R"({"folder": "/nowhere"})"); }).first, Code::kNotFound);
}

}  // namespace
}  // namespace trainyard
