// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "launch/file/launch_file.h"
#include "launch/file/shipped_files.h"

namespace trainyard::launch {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(TRAINYARD_SOURCE_DIR) / "launch" / "files";

std::vector<std::string> shipped_files() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  return names;
}

class ShippedFilesTest : public ::testing::TestWithParam<std::string> {
 protected:
  LaunchFile load(std::vector<std::string> words = {}) const {
    // These arguments have no default, because they name the user's data.
    static const std::map<std::string, std::string> kNeeded{{"shakespeare_char", "text=input.txt"},
                                                            {"cifar10", "folder=cifar"}};
    if (const auto needed = kNeeded.find(GetParam()); needed != kNeeded.end()) words.push_back(needed->second);
    return load_launch_file((kFolder / (GetParam() + ".toml")).string(), words);
  }
};

TEST_P(ShippedFilesTest, HasTheSixComponentsUnderTheirPluginsNames) {
  std::vector<std::string> names;
  for (const ComponentSpec& spec : load().components) {
    names.push_back(spec.name);
    EXPECT_EQ(spec.plugin.text, spec.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"accelerator_host", "checkpoint_writer", "data_loader", "logger",
                                             "optimizer", "strategy_manager"}));
}

TEST_P(ShippedFilesTest, WritesBelowRunsUnderItsOwnName) { EXPECT_EQ(load().run.directory, "runs/" + GetParam()); }

TEST_P(ShippedFilesTest, IsFoundByItsNameAlone) {
  const fs::path path = fs::path(shipped_file(GetParam() + ".toml"));
  EXPECT_TRUE(fs::equivalent(path, kFolder / path.filename())) << path;
  EXPECT_EQ(shipped_file("../launch/" + GetParam() + ".toml"), "") << "a name, not a path";
}

TEST_P(ShippedFilesTest, CanBeSplitIntoProcesses) {
  EXPECT_FALSE(load().topology.placement) << "the number of ranks decides";
  EXPECT_EQ(load({"placement=processes"}).topology.placement.value().word, Placement::kProcesses);
}

INSTANTIATE_TEST_SUITE_P(Files, ShippedFilesTest, ::testing::ValuesIn(shipped_files()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace trainyard::launch
