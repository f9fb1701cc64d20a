// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/snapshot_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messages/error.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::shared_ptr<const Snapshot> request(std::uint32_t rank, std::uint64_t order, std::uint64_t samples = 1) {
  return std::make_shared<const Snapshot>(
      Snapshot{.rank = rank,
               .order = order,
               .samples = samples,
               .states = {{.owner = "own", .rank = rank, .per_rank = true}, {.owner = "common", .rank = rank}}});
}

TEST(SnapshotRequestsTest, ASingleRankIsServedAtOnce) {
  SnapshotRequests requests(1);
  const auto snapshot = requests.add(request(0, 4));
  ASSERT_TRUE(snapshot.has_value());
  EXPECT_EQ(snapshot->order, 4u);
}

TEST(SnapshotRequestsTest, TheLastRankCompletesTheSnapshotOfAll) {
  SnapshotRequests requests(3);
  EXPECT_FALSE(requests.add(request(2, 4, 5)).has_value());
  EXPECT_FALSE(requests.add(request(0, 4, 3)).has_value());
  const auto snapshot = requests.add(request(1, 4, 4));
  ASSERT_TRUE(snapshot.has_value());
  EXPECT_EQ(snapshot->rank, 0u);
  EXPECT_EQ(snapshot->samples, 12u);
  std::vector<std::string> states;
  for (const SavedState& state : snapshot->states) states.push_back(state.owner + std::to_string(state.rank));
  EXPECT_THAT(states, ::testing::ElementsAre("own0", "common0", "own1", "own2"))
      << "of the other ranks, only what each has for itself";
}

TEST(SnapshotRequestsTest, ARankMayAskAheadOfTheOthers) {
  SnapshotRequests requests(2);
  EXPECT_FALSE(requests.add(request(0, 4)).has_value());
  EXPECT_FALSE(requests.add(request(0, 6)).has_value());
  EXPECT_EQ(requests.add(request(1, 4))->order, 4u);
  EXPECT_EQ(requests.add(request(1, 6))->order, 6u);
}

TEST(SnapshotRequestsTest, RanksThatAskForDifferentOrdersAreAnError) {
  SnapshotRequests requests(2);
  requests.add(request(0, 4));
  EXPECT_THAT([&] { requests.add(request(1, 5)); },
              ThrowsMessage<Error>(HasSubstr("rank 1 asks for a snapshot for order 5, rank 0 for order 4")));
}

TEST(SnapshotRequestsTest, ARankThatDoesNotExistIsRefused) {
  SnapshotRequests requests(2);
  EXPECT_THAT([&] { requests.add(request(2, 4)); },
              ThrowsMessage<Error>(HasSubstr("a snapshot of rank 2 came in a run of 2 ranks")));
}

}  // namespace
}  // namespace trainyard
