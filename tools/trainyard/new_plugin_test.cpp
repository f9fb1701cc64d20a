// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/new_plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>

#include "archive/small_file.h"
#include "core/testing/temporary_folder.h"
#include "launch/plan/child_output.h"
#include "messages/error.h"
#include "tools/trainyard/exit_codes.h"

namespace trainyard::tools {

using namespace trainyard::testing;
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class NewPluginTest : public ::testing::Test {
 protected:
  NewPluginTest() { ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); }

  int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {TRAINYARD_COMMAND, "new"});
    const launch::ChildOutput output = launch::run_child(arguments, std::chrono::seconds(60));
    out_ = output.text;
    err_ = output.errors;
    return WIFEXITED(output.status) ? WEXITSTATUS(output.status) : -1;
  }

  TemporaryFolder folder_;
  std::string out_;
  std::string err_;
};

// tests/out_of_tree/new_plugins.sh also builds such folders.
TEST_F(NewPluginTest, MakesAFolderOfEveryKindWithoutTracesOfTheTemplate) {
  for (const std::string& kind : plugin_kinds()) {
    ASSERT_EQ(run({kind, "star_maker", "--directory", folder_.path(kind)}), kExitOk) << err_;
    EXPECT_THAT(out_, HasSubstr("CMakeLists.txt, star_maker.cpp, star_maker.h, star_maker_test.cpp, try.toml"));
    for (const auto& entry : fs::directory_iterator(folder_.path(kind))) {
      const std::string text = archive::read_small_file(entry.path(), 1 << 20);
      EXPECT_THAT(text, ::testing::AnyOf(HasSubstr("star_maker"), HasSubstr("StarMaker"))) << entry.path();
      for (const char* trace : {"my_", "SPDX"}) EXPECT_THAT(text, Not(HasSubstr(trace))) << entry.path();
    }
    EXPECT_THAT(archive::read_small_file(folder_.path(kind) + "/star_maker.h", 1 << 20), HasSubstr("class StarMaker "));
  }
}

// The command under test is in a build folder, against which no plugin can be built.
TEST_F(NewPluginTest, SaysThatABuildFolderMustBeInstalledFirst) {
  ASSERT_EQ(run({"dataset", "star_maker", "--directory", folder_.path("stars")}), kExitOk) << err_;
  const std::string build = fs::path(TRAINYARD_COMMAND).parent_path().parent_path();
  EXPECT_THAT(out_, HasSubstr("  cmake --install " + build + " --prefix $HOME/trainyard\n"));
  EXPECT_THAT(out_, HasSubstr("  export TRAINYARD_PLUGIN_PATH=" + folder_.path("stars") +
                              "/build/plugins${TRAINYARD_PLUGIN_PATH:+:$TRAINYARD_PLUGIN_PATH}\n"));
  EXPECT_THAT(out_, HasSubstr(" -DTRAINYARD_TESTS=ON -DCMAKE_PREFIX_PATH=$HOME/trainyard\n"));
}

TEST_F(NewPluginTest, RefusesNamesThatCannotWork) {
  for (const char* name : {"Stars", "2stars", "star-maker", "star maker", "_stars", "stars_", "star__maker", "../stars",
                           "", "st\xc3\xa4rs", "stars_test", "dataset", "replica_strategy"}) {
    EXPECT_THROW(check_plugin_name(name), Error) << name;
  }
  EXPECT_THROW(check_plugin_name(std::string(65, 'a')), Error);
  for (const char* name : {"s", "stars2", "star_maker", "my_dataset"}) EXPECT_NO_THROW(check_plugin_name(name)) << name;
  EXPECT_EQ(run({"dataset", "Stars", "--directory", folder_.path("x")}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("trainyard: the name 'Stars' is not allowed: small letters, digits and"));
  EXPECT_FALSE(fs::exists(folder_.path("x")));
}

TEST_F(NewPluginTest, RefusesKindsFoldersAndNamesThatItCannotUse) {
  EXPECT_EQ(run({"datasets", "stars"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("no kind of plugin 'datasets'; did you mean 'dataset'?"));
  EXPECT_EQ(run({"dataset", "synthetic", "--directory", folder_.path("x")}), kExitUsage);
  EXPECT_EQ(err_, "trainyard: there is a dataset 'synthetic' already; choose another name\n");
  folder_.write("full/mine.txt", "mine");
  EXPECT_EQ(run({"dataset", "stars", "--directory", folder_.path("full")}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("exists already; the folder of a new plugin must be new or empty"));
  EXPECT_EQ(archive::read_small_file(folder_.path("full/mine.txt"), 100), "mine");
}

TEST(ClassNameTest, JoinsTheWordsOfAName) {
  EXPECT_EQ(class_name_of("random_invert"), "RandomInvert");
  EXPECT_EQ(class_name_of("x2_y"), "X2Y");
}

}  // namespace
}  // namespace trainyard::tools
