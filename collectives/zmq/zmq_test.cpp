// SPDX-License-Identifier: Apache-2.0
#include "collectives/zmq/zmq.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "collectives/testing/contract.h"
#include "collectives/testing/ranks.h"
#include "core/plugin/loader.h"
#include "core/testing/temporary_folder.h"

namespace trainyard::collectives {
namespace {

class ZmqTest : public ::testing::TestWithParam<const char*> {};

// collectives/contract_test.cpp tests what every backend must do; this tests both kinds of sockets.
TEST_P(ZmqTest, HoldsTheContractAndLeavesNothingBehind) {
  const testing::TemporaryFolder folder;
  ::setenv("TMPDIR", folder.path().c_str(), 1);
  const auto ends = testing::run_threads(3, [&](std::uint32_t rank, core::Rendezvous& notes) {
    core::PluginLoader plugins(core::PluginLoader::default_directories());
    CollectiveContext context;
    context.where = "the test";
    context.plugins = &plugins;
    context.rendezvous = &notes;
    context.rank = rank;
    context.name = "world";
    context.ranks = {0, 1, 2};
    const auto world = make_collective({"zmq", fmt::format(R"({{"transport": "{}"}})", GetParam())}, context);
    for (const testing::ContractCheck& check : testing::contract_checks()) check.run(*world, notes);
    return "";
  });
  ::unsetenv("TMPDIR");
  for (const testing::RankEnd& end : ends) EXPECT_TRUE(end.returned) << end.text;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

INSTANTIATE_TEST_SUITE_P(Transports, ZmqTest, ::testing::Values("ipc", "tcp"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace trainyard::collectives
