// SPDX-License-Identifier: Apache-2.0
#include "collectives/zmq/zmq.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "collectives/testing/contract.h"
#include "collectives/testing/ranks.h"
#include "core/plugin/loader.h"
#include "core/testing/temporary_folder.h"

namespace trainyard::collectives {
namespace {

/// Makes the collective of rank `rank`, one of three ranks.
std::unique_ptr<Collective> make_zmq(const std::string& transport, std::uint32_t rank, core::Rendezvous& notes,
                                     core::PluginLoader& plugins) {
  CollectiveContext context;
  context.where = "the test";
  context.plugins = &plugins;
  context.rendezvous = &notes;
  context.rank = rank;
  context.name = "world";
  context.ranks = {0, 1, 2};
  return make_collective({"zmq", fmt::format(R"({{"transport": "{}"}})", transport)}, context);
}

class ZmqTest : public ::testing::TestWithParam<const char*> {};

// collectives/contract_test.cpp tests the requirements for every collective; this file tests both kinds of sockets.
TEST_P(ZmqTest, HoldsTheContractAndLeavesNothingBehind) {
  const testing::TemporaryFolder folder;
  ::setenv("TMPDIR", folder.path().c_str(), 1);
  const auto ends = testing::run_threads(3, [&](std::uint32_t rank, core::Rendezvous& notes) {
    core::PluginLoader plugins(core::PluginLoader::default_directories());
    const auto world = make_zmq(GetParam(), rank, notes, plugins);
    for (const testing::ContractCheck& check : testing::contract_checks()) check.run(*world, notes);
    return "";
  });
  ::unsetenv("TMPDIR");
  for (const testing::RankEnd& end : ends) EXPECT_TRUE(end.returned) << end.text;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ZmqFolderTest, AFolderForSocketsThatDoesNotExistIsNamed) {
  ::setenv("TMPDIR", "/no/such/folder", 1);
  const auto ends = testing::run_threads(3, [&](std::uint32_t rank, core::Rendezvous& notes) {
    core::PluginLoader plugins(core::PluginLoader::default_directories());
    make_zmq("ipc", rank, notes, plugins);
    return "";
  });
  ::unsetenv("TMPDIR");
  for (const testing::RankEnd& end : ends) {
    EXPECT_EQ(end.code, Code::kIo);
    EXPECT_THAT(end.text, ::testing::HasSubstr("cannot make a folder for sockets in '/no/such/folder': No such file or "
                                               "directory; set TMPDIR to a folder in which you may write"));
  }
}

INSTANTIATE_TEST_SUITE_P(Transports, ZmqTest, ::testing::Values("ipc", "tcp"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace trainyard::collectives
