// SPDX-License-Identifier: Apache-2.0
#include "launch/file/include.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "core/testing/temporary_folder.h"
#include "launch/file/toml_reader.h"
#include "launch/testing/expect_error.h"

namespace trainyard::launch {
namespace {

using testing::error_of;

class IncludeTest : public ::testing::Test {
 protected:
  nlohmann::json read(const std::string& name) { return to_json(read_with_includes(folder_.path() + "/" + name)); }
  std::string error(const std::string& name) {
    return error_of([&] { read(name); }, folder_.path());
  }

  testing::TemporaryFolder folder_;
};

nlohmann::json merged(const std::string& base, const std::string& over) {
  Value value = read_toml(base, "base");
  merge(value, read_toml(over, "over"));
  return to_json(value);
}

TEST_F(IncludeTest, MergesTablesAndReplacesEverythingElse) {
  EXPECT_EQ(merged("a = { x = 1, y = [1, 2] }\nb = 1", "a = { y = [3], z = 4 }").dump(),
            R"({"a":{"x":1,"y":[3],"z":4},"b":1})");
  EXPECT_EQ(merged("a = { x = 1 }", "a = 2").dump(), R"({"a":2})");
  EXPECT_EQ(merged("a = 2", "a = { x = 1 }").dump(), R"({"a":{"x":1}})");
}

TEST_F(IncludeTest, AnotherPluginDropsTheParametersOfTheOldOne) {
  EXPECT_EQ(merged("d = { plugin = 'text', path = 'x' }", "d = { plugin = 'idx' }").dump(),
            R"({"d":{"plugin":"idx"}})");
  EXPECT_EQ(merged("d = { plugin = 'text', path = 'x' }", "d = { plugin = 'text', n = 1 }").dump(),
            R"({"d":{"n":1,"path":"x","plugin":"text"}})");
  EXPECT_EQ(merged("d = { plugin = 'logger', x = 1 }", "d = { command = ['a'] }").dump(), R"({"d":{"command":["a"]}})");
}

TEST_F(IncludeTest, AMemberWithAnotherCommandIsStillAMember) {
  const std::string member = "d = { command = ['a'], declaration = 'describe', params = { x = 1 } }";
  EXPECT_EQ(merged(member, "d = { command = ['b', 'a'] }").dump(),
            R"({"d":{"command":["b","a"],"declaration":"describe"}})");
  EXPECT_EQ(merged(member, "d = { command = ['b'], declaration = 'b.json' }").dump(),
            R"({"d":{"command":["b"],"declaration":"b.json"}})");
  EXPECT_EQ(merged(member, "d = { plugin = 'b' }").dump(), R"({"d":{"plugin":"b"}})");
}

TEST_F(IncludeTest, LaterFilesWinAndTheIncludingFileWinsOverAll) {
  folder_.write("one.toml", "a = 1\nb = 1\nc = 1\n");
  folder_.write("two.toml", "b = 2\nc = 2\n");
  folder_.write("main.toml", "include = ['one.toml', 'two.toml']\nc = 3\n");
  EXPECT_EQ(read("main.toml").dump(), R"({"a":1,"b":2,"c":3})");
}

TEST_F(IncludeTest, WhatIsNoFileIsNamedWithTheLineThatIncludesIt) {
  ASSERT_EQ(::mkfifo((folder_.path() + "/pipe.toml").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("self.toml", (folder_.path() + "/self.toml").c_str()), 0);
  folder_.write("fifo.toml", "include = 'pipe.toml'\n");
  folder_.write("link.toml", "\ninclude = 'self.toml'\n");
  folder_.write("folder.toml", "include = '.'\n");
  EXPECT_EQ(error("fifo.toml"), "fifo.toml:1: include: pipe.toml: is a FIFO, not a file");
  EXPECT_EQ(error("link.toml"), "link.toml:2: include: self.toml: cannot be read: Too many levels of symbolic links");
  EXPECT_THAT(error("folder.toml"), ::testing::HasSubstr("is a folder, not a file"));
}

TEST_F(IncludeTest, PathsAreRelativeToTheIncludingFile) {
  folder_.write("main.toml", "include = 'sub/one.toml'\n");
  folder_.write("sub/one.toml", "include = ['../two.toml', '${file_dir}/../sub/three.toml']\n");
  folder_.write("two.toml", "a = 2\n");
  folder_.write("sub/three.toml", "b = 3\n");
  // ${file_dir} is an absolute path here, because the path of the launch file is.
  EXPECT_EQ(read("main.toml").dump(), R"({"a":2,"b":3})");
}

TEST_F(IncludeTest, ValuesKnowTheirOwnFile) {
  folder_.write("one.toml", "\na = 1\n");
  folder_.write("main.toml", "include = ['one.toml']\nb = 1\n");
  const Value root = read_with_includes(folder_.path() + "/main.toml");
  EXPECT_EQ(to_text(root.find("a")->origin), folder_.path() + "/one.toml:2");
  EXPECT_EQ(to_text(root.find("b")->origin), folder_.path() + "/main.toml:2");
}

TEST_F(IncludeTest, ACycleIsAnErrorThatShowsTheChain) {
  folder_.write("a.toml", "x = 1\ninclude = ['b.toml']\n");
  folder_.write("b.toml", "include = ['c.toml']\n");
  folder_.write("c.toml", "\n\ninclude = ['./b.toml']\n");
  EXPECT_EQ(error("a.toml"), "c.toml:3: include: files include one another: b.toml -> c.toml -> b.toml");
  folder_.write("self.toml", "include = ['self.toml']\n");
  EXPECT_EQ(error("self.toml"), "self.toml:1: include: files include one another: self.toml -> self.toml");
}

TEST_F(IncludeTest, AFileMayBeIncludedTwiceWithoutACycle) {
  folder_.write("base.toml", "a = 1\n");
  folder_.write("b.toml", "include = ['base.toml']\n");
  folder_.write("main.toml", "include = ['base.toml', 'b.toml']\n");
  EXPECT_EQ(read("main.toml").dump(), R"({"a":1})");
}

TEST_F(IncludeTest, DepthAndNumberAreBounded) {
  for (int i = 0; i < 20; ++i) {
    folder_.write(std::to_string(i) + ".toml", "include = ['" + std::to_string(i + 1) + ".toml']\n");
  }
  EXPECT_EQ(error("0.toml"), "15.toml:1: include: files are included more than 16 deep");
  for (int i = 0; i < 12; ++i) {
    const std::string next = "'t" + std::to_string(i + 1) + ".toml'";
    folder_.write("t" + std::to_string(i) + ".toml", "include = [" + next + ", " + next + "]\n");
  }
  folder_.write("t12.toml", "");
  EXPECT_EQ(error("t0.toml"), "t12.toml: more than 256 files");
}

TEST_F(IncludeTest, NamesTheFileThatIsMissing) {
  folder_.write("main.toml", "a = 1\ninclude = ['none.toml']\n");
  EXPECT_THAT(error("main.toml"),
              ::testing::AllOf(::testing::HasSubstr("main.toml:2: include: \"none.toml\" is not a file, nor one "
                                                    "that comes with Trainyard"),
                               ::testing::HasSubstr("known: cifar10.toml, ")));
  folder_.write("number.toml", "include = [3]\n");
  EXPECT_EQ(error("number.toml"), "number.toml:1: include: 3 is not allowed; a list of files");
}

}  // namespace
}  // namespace trainyard::launch
