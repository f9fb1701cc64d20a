// SPDX-License-Identifier: Apache-2.0
#include "collectives/request.h"

#include <gtest/gtest.h>

namespace trainyard::collectives {
namespace {

Request all_reduce(std::uint64_t count) {
  return {.kind = OperationKind::kAllReduce, .op = ReduceOp::kMean, .dtype = DType::kFloat32, .count = count};
}

TEST(RequestTest, SaysWhoAskedForWhat) {
  const std::vector<std::uint32_t> ranks{0, 2, 5};
  EXPECT_EQ(disagreement({all_reduce(3), all_reduce(3), all_reduce(3)}, ranks), "");
  EXPECT_EQ(disagreement({all_reduce(3), all_reduce(4), all_reduce(3)}, ranks),
            "ranks 0, 5 asked for all_reduce(mean) of float32[3], rank 2 for all_reduce(mean) of float32[4]");
  const Request broadcast{.kind = OperationKind::kBroadcast, .dtype = DType::kInt8, .member = 2, .count = 7};
  EXPECT_EQ(disagreement({broadcast, Request{}, Request{}}, ranks),
            "rank 0 asked for broadcast from rank 5 of int8[7], ranks 2, 5 for barrier");
}

TEST(RequestTest, SaysWhenOnlyBoundsDiffer) {
  Request request{.kind = OperationKind::kAllGather, .count = 9};
  Request other = request;
  other.bounds = hash_of(std::vector<std::uint64_t>{0, 4, 9});
  EXPECT_EQ(
      disagreement({request, other}, {0, 1}),
      "rank 0 asked for all_gather of uint8[9] with bounds of its own, rank 1 for all_gather of uint8[9] with bounds "
      "of its own");
}

}  // namespace
}  // namespace trainyard::collectives
