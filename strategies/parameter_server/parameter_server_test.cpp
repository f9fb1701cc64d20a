// SPDX-License-Identifier: Apache-2.0
#include "strategies/parameter_server/parameter_server.h"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "strategies/testing/rank_team.h"

namespace trainyard::testing {
namespace {

double stat(TeamMember& member, const std::string& name) {
  for (const Scalar& scalar : member.strategy().stats()) {
    if (scalar.name == name) return scalar.value;
  }
  ADD_FAILURE() << "no " << name;
  return 0;
}

TEST(ParameterServerTest, EveryWorkerMakesItsOwnUpdatesUnlessTheyAreSynchronous) {
  for (const auto& [mode, updates] : {std::pair{"sync", 4}, std::pair{"bounded", 12}, std::pair{"async", 12}}) {
    SCOPED_TRACE(mode);
    RankTeam team(3, "parameter_server", fmt::format(R"({{"mode": "{}", "staleness": 1}})", mode));
    team.each([](std::uint32_t rank, TeamMember& member) {
      for (std::uint64_t step = 1; step <= 4; ++step) member.step(step, made_up_rows(rank, 4));
    });
    EXPECT_EQ(stat(team.member(0), "server_updates"), updates);
    EXPECT_LE(stat(team.member(0), "staleness"), std::string(mode) == "bounded" ? 1 : 4);
  }
}

TEST(ParameterServerTest, AWorkerWithoutSamplesMakesNoUpdate) {
  RankTeam team(2, "parameter_server", R"({"mode": "bounded", "staleness": 0})");
  team.each([](std::uint32_t rank, TeamMember& member) { member.step(1, made_up_rows(1, rank == 0 ? 4 : 0)); });
  EXPECT_EQ(stat(team.member(0), "server_updates"), 1);
}

}  // namespace
}  // namespace trainyard::testing
