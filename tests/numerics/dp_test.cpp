// SPDX-License-Identifier: Apache-2.0
// Tests that the strategy `dp`, whose ranks are threads of one process, gives the same results as `ddp`.
#include <gtest/gtest.h>

#include "tests/numerics/many_ranks.h"

namespace trainyard::testing {
namespace {

TEST(DpNumericsTest, EqualsDdpBitForBit) {
  std::vector<Batch> whole;
  for (std::uint64_t i = 0; i < 20; ++i) whole.push_back(made_up_batch(i, 32, 20, 7));
  const auto trained = [&](const std::string& strategy) {
    ManyRanks ranks(
        4, fmt::format(R"("model": {{"plugin": "mlp", "hidden": [16]}}, "strategy": {{"plugin": "{}"}})", strategy),
        R"({"rule": "adamw", "lr": 0.01})", made_up_data(20, 7));
    ranks.train(deal(whole, 4), 2);
    return ranks.parameters();
  };
  const std::vector<at::Tensor> got = trained("dp"), wanted = trained("ddp");
  for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_TRUE(got[rank].equal(wanted[rank])) << "rank " << rank;
}

}  // namespace
}  // namespace trainyard::testing
