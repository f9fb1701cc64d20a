// SPDX-License-Identifier: Apache-2.0
#include "strategies/hierarchical/hierarchical.h"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/testing/error_of.h"
#include "strategies/testing/rank_team.h"

namespace trainyard::testing {
namespace {

void expect_mean(RankTeam& team) {
  team.each([](std::uint32_t rank, TeamMember& member) { member.step(1, made_up_rows(rank, 4)); });
  const at::Tensor expected = mean_of_gradients_alone("hierarchical", team.size());
  for (std::uint32_t rank = 0; rank < team.size(); ++rank) {
    EXPECT_LE((team.member(rank).gradients() - expected).abs().max().item<double>(), 1e-6) << "rank " << rank;
    EXPECT_TRUE(team.member(rank).gradients().equal(team.member(0).gradients())) << "rank " << rank;
  }
}

TEST(HierarchicalTest, TheOptimizerSeesTheMeanOfAllRanksHoweverManyAHostHas) {
  for (const int ranks_per_host : {0, 1, 2, 3}) {
    SCOPED_TRACE(ranks_per_host);
    RankTeam team(4, "hierarchical", fmt::format(R"({{"ranks_per_host": {}, "bucket_mb": 0.0001}})", ranks_per_host));
    expect_mean(team);
  }
}

/// Returns samples of a shape that makes the model's forward pass throw.
ModelBatch rows_of_another_shape() {
  ModelBatch rows = made_up_rows(1, 4);
  rows.tensors.front() = rows.tensors.front().slice(1, 0, 3);
  return rows;
}

/// Rank 3 throws. Ranks 0 to 2 must end although some of them wait in groups of ranks to which rank 3 does not belong.
TEST(HierarchicalTest, ARankThatThrowsEndsTheOthersAtOnceInWhateverGroupTheyWait) {
  RankTeam team(4, "hierarchical", R"({"ranks_per_host": 2})");
  std::vector<std::pair<Code, std::string>> errors(4);
  team.each([&](std::uint32_t rank, TeamMember& member) {
    if (rank < 3) {
      errors[rank] = error_of([&] { member.step(1, made_up_rows(rank, 4)); });
    } else {
      EXPECT_ANY_THROW(member.step(1, rows_of_another_shape()));
    }
  });
  for (const std::uint32_t rank : {0, 1, 2}) {
    EXPECT_EQ(errors[rank].first, Code::kPeerLost) << rank << ": " << errors[rank].second;
    EXPECT_NE(errors[rank].second.find(" gave up group "), std::string::npos) << errors[rank].second;
  }
  EXPECT_NE(errors[2].second.find("rank 3 gave up group"), std::string::npos) << errors[2].second;
}

}  // namespace
}  // namespace trainyard::testing
