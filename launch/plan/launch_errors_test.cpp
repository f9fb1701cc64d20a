// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "launch/plan/planner.h"
#include "launch/testing/expect_error.h"
#include "launch/testing/fake_catalogue.h"

namespace trainyard::launch {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(TRAINYARD_SOURCE_DIR) / "tests" / "launch_errors";

/// Returns the names of the launch files with errors. Files that other files include are named *.inc.toml and are left
/// out.
std::vector<std::string> broken_files() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(kFolder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".toml") && !name.ends_with(".inc.toml")) names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

std::string expectation(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const std::string mark = "# expect: ";
  if (!line.starts_with(mark)) throw Error(Code::kNotFound, "{}: begins with no expectation", path.string());
  line = replaced(line.substr(mark.size()), "{file}", path.string());
  return replaced(line, "{folder}", path.parent_path().string());
}

class LaunchErrorsTest : public ::testing::TestWithParam<std::string> {};

TEST_P(LaunchErrorsTest, GivesOneClearErrorWithFileAndLine) {
  const fs::path path = kFolder / (GetParam() + ".toml");
  testing::FakeCatalogue catalogue = testing::standard_catalogue();
  const std::string given = testing::error_of([&] { make_plan(path.string(), {}, catalogue); });
  std::string expected = expectation(path);
  if (!expected.ends_with("...")) {
    EXPECT_EQ(given, expected);
  } else {
    expected.resize(expected.size() - 3);
    EXPECT_EQ(given.substr(0, expected.size()), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, LaunchErrorsTest, ::testing::ValuesIn(broken_files()),
                         [](const auto& info) { return info.param; });

TEST(LaunchErrorFilesTest, TheSharedPartIsSound) {
  testing::FakeCatalogue catalogue = testing::standard_catalogue();
  EXPECT_EQ(make_plan((kFolder / "six.inc.toml").string(), {}, catalogue).components.size(), 6u);
}

}  // namespace
}  // namespace trainyard::launch
