// SPDX-License-Identifier: Apache-2.0
#include "environments/process_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "core/testing/temporary_folder.h"

namespace trainyard::environments {
namespace {

using ::testing::Contains;
using ::testing::Not;

TEST(ProcessFactsTest, TheFactsAreThoseOfThisProcess) {
  ::setenv("TRAINYARD_TEST_VARIABLE", "a=b", 1);
  const ProcessFacts facts = facts_of_this_process();
  EXPECT_EQ(facts.variables.at("TRAINYARD_TEST_VARIABLE"), "a=b");
  char name[256] = {};
  ASSERT_EQ(::gethostname(name, sizeof name - 1), 0);
  EXPECT_EQ(facts.host_name, name);
  EXPECT_THAT(facts.addresses, Not(Contains("127.0.0.1")));
  std::ifstream file("/proc/" + std::to_string(::getppid()) + "/comm");
  std::string parent;
  std::getline(file, parent);
  ASSERT_FALSE(facts.ancestors.empty());
  EXPECT_EQ(facts.ancestors.front(), parent);
}

TEST(ProcessFactsTest, OnlyFilesOfAtMostOneMebibyteAreRead) {
  const testing::TemporaryFolder folder;
  const ProcessFacts facts = facts_of_this_process();
  const auto with = [&](std::size_t bytes) {
    const std::string path = folder.path("file");
    std::ofstream(path) << std::string(bytes, 'x');
    return facts.read_file(path);
  };
  EXPECT_EQ(with(3), "xxx");
  EXPECT_EQ(with(1 << 20)->size(), std::size_t{1} << 20);
  EXPECT_FALSE(with((1 << 20) + 1));
  EXPECT_FALSE(facts.read_file(folder.path("absent")));
  EXPECT_FALSE(facts.read_file(folder.path()));
}

}  // namespace
}  // namespace trainyard::environments
