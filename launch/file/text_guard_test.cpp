// SPDX-License-Identifier: Apache-2.0
#include "launch/file/text_guard.h"

#include <gtest/gtest.h>

#include "core/testing/temporary_folder.h"
#include "launch/testing/expect_error.h"

namespace trainyard::launch {
namespace {

using testing::error_of;
using testing::TemporaryFolder;

std::string limits_of(const std::string& text) {
  return error_of([&] { check_text_limits(text, "a.toml"); });
}

std::string repeated(const std::string& piece, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

TEST(TextGuardTest, AcceptsAnOrdinaryFile) {
  EXPECT_EQ(limits_of("[component.a]\nparams = { lr = 0.1, name = \"a.b.c\" }\nx.y.'z w' = [1.5, 2.5]\n"),
            "(no error)");
}

TEST(TextGuardTest, RefusesAKeyPathOf200KilobytesWithItsLine) {
  EXPECT_EQ(limits_of("a = 1\nb = 2\n" + repeated("a.", 100'000) + "a = 1\n"),
            "a.toml:3: a key has more than 32 parts");
}

TEST(TextGuardTest, RefusesALongPathInATableHeader) {
  EXPECT_EQ(limits_of("\n[" + repeated("a.", 100'000) + "a]\n"), "a.toml:2: a key has more than 32 parts");
}

TEST(TextGuardTest, RefusesALongPathOfQuotedPartsWithSpaces) {
  EXPECT_EQ(limits_of(repeated("\"a\" . ", 40) + "b = 1\n"), "a.toml:1: a key has more than 32 parts");
}

TEST(TextGuardTest, RefusesOneLongKey) {
  EXPECT_EQ(limits_of(std::string(200'000, 'k') + " = 1"), "a.toml:1: a key is longer than 1024 bytes");
  EXPECT_EQ(limits_of("\"" + std::string(200'000, 'k') + "\" = 1"), "a.toml:1: a key is longer than 1024 bytes");
}

TEST(TextGuardTest, AcceptsLongStringsAsValues) {
  EXPECT_EQ(limits_of("a = \"" + std::string(200'000, '.') + "\"\n"), "(no error)");
  EXPECT_EQ(limits_of("a = \"\"\"\n" + repeated("a.b\n", 10'000) + "\"\"\"\n"), "(no error)");
  EXPECT_EQ(limits_of("# " + repeated("a.", 10'000) + "\n"), "(no error)");
}

TEST(TextGuardTest, CountsTheLinesOfStrings) {
  EXPECT_EQ(limits_of("a = '''\n\n\n'''\n" + repeated("a.", 40)), "a.toml:5: a key has more than 32 parts");
  EXPECT_EQ(limits_of("a = \"\"\"\n\\\"\"\"\n\"\"\"\n" + repeated("a.", 40)), "a.toml:4: a key has more than 32 parts");
}

TEST(TextGuardTest, AStringThatDoesNotEndHidesNothingOnTheNextLine) {
  EXPECT_EQ(limits_of("a = \"oops\n" + repeated("a.", 40)), "a.toml:2: a key has more than 32 parts");
}

TEST(TextGuardTest, RefusesDeepNesting) {
  const std::string text = "arrays and tables are nested deeper than 32 levels";
  EXPECT_EQ(limits_of("a = " + repeated("[", 100'000)), "a.toml:1: " + text);
  EXPECT_EQ(limits_of("a = " + repeated("{a=", 100'000)), "a.toml:1: " + text);
  EXPECT_EQ(limits_of("a = " + repeated("[", 32) + repeated("]", 32)), "(no error)");
}

TEST(TextGuardTest, ReadsAFileUpToItsLimit) {
  const TemporaryFolder folder;
  const std::string fits(kMaxFileBytes, '#');
  EXPECT_EQ(read_launch_text(folder.write("fits.toml", fits)), fits);
  const std::string path = folder.write("long.toml", fits + "#");
  EXPECT_EQ(error_of([&] { read_launch_text(path); }, folder.path()),
            "long.toml: a launch file has at most 1048576 bytes");
}

TEST(TextGuardTest, SaysWhyAFileCannotBeRead) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { read_launch_text(folder.path() + "/none.toml"); }, folder.path()),
            "none.toml: cannot be read: No such file or directory");
  EXPECT_EQ(error_of([&] { read_launch_text(folder.path()); }), folder.path() + ": is a folder, not a file");
}

}  // namespace
}  // namespace trainyard::launch
