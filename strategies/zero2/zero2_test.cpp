// SPDX-License-Identifier: Apache-2.0
#include "strategies/zero2/zero2.h"

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

TEST(Zero2Test, RanksKeepTheirPartOfTheGradientsAlone) {
  RankTeam team(4, "zero2");
  team.each([](std::uint32_t rank, TeamMember& member) { member.step(1, made_up_rows(rank, 4)); });
  const at::Tensor whole = team.whole_parameters();
  const auto bytes = static_cast<double>(team.member(0).arena().layout().parameter_bytes);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(stat(team.member(rank), "gradient_bytes"), bytes / 4);
    EXPECT_EQ(stat(team.member(rank), "parameter_bytes"), bytes);
    EXPECT_TRUE(team.member(rank).arena().parameters().equal(whole)) << "rank " << rank;
    for (const NamedTensor& named : team.member(rank).model().parameters()) {
      EXPECT_FALSE(named.tensor.grad().defined()) << "given up as soon as it is reduced";
    }
  }
}

}  // namespace
}  // namespace trainyard::testing
