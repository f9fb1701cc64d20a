// SPDX-License-Identifier: Apache-2.0
#include "collectives/shared_memory/shared_memory.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>

#include "collectives/shared_memory/test_ranks.h"
#include "core/memory/shared_pool.h"
#include "core/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using testing::on_threads;
using testing::RankOptions;
using Floats = std::vector<float>;

/// Limits so small that a few thousand elements are transferred by every method, in many pieces.
const RankOptions kTiny{.parameters = R"({"small_bytes": 1024, "chunk_bytes": 4096, "staging_bytes": 65536})"};

/// Returns values that differ on every rank, and whose sums have different bits if they are added in another order.
Floats input_of(std::uint32_t rank, std::size_t count) {
  std::mt19937 random(rank + 1);
  std::uniform_real_distribution<float> values(-1, 1);
  Floats all(count);
  for (float& value : all) value = values(random) * static_cast<float>(1 << random() % 12);
  return all;
}

Floats sum_of(std::uint32_t ranks, std::size_t count) {
  Floats sum = input_of(0, count);
  for (std::uint32_t rank = 1; rank < ranks; ++rank) {
    const Floats next = input_of(rank, count);
    for (std::size_t i = 0; i < count; ++i) sum[i] += next[i];
  }
  return sum;
}

Elements all_of(std::span<float> data) { return {data.data(), DType::kFloat32, data.size()}; }

std::span<float> floats_in(const Buffer& buffer) {
  return {reinterpret_cast<float*>(buffer.data()), buffer.size() / sizeof(float)};
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

/// Runs `body` twice with the rank's input: in memory that all ranks have mapped, and in ordinary memory.
std::vector<std::string> both_ways(std::uint32_t ranks, std::size_t count,
                                   const std::function<std::string(Collective&, std::span<float>)>& body) {
  return on_threads(
      ranks,
      [&](Collective& group) -> std::string {
        const Buffer registered = group.allocate(count * sizeof(float));
        const Floats input = input_of(group.rank(), count);
        std::ranges::copy(input, floats_in(registered).begin());
        if (const std::string wrong = body(group, floats_in(registered)); !wrong.empty()) return "in place: " + wrong;
        Floats mine = input;
        if (const std::string wrong = body(group, mine); !wrong.empty()) return "staged: " + wrong;
        return "";
      },
      kTiny);
}

TEST(SharedMemoryTest, AllReduceGivesTheSameBitsWhicheverWayItGoes) {
  for (const std::uint32_t ranks : {2u, 3u, 5u}) {
    for (const std::size_t count : {1u, 100u, 257u, 5000u, 40'001u}) {
      const Floats wanted = sum_of(ranks, count);
      EXPECT_THAT(both_ways(ranks, count,
                            [&](Collective& group, std::span<float> data) {
                              group.all_reduce(all_of(data), ReduceOp::kSum).wait();
                              return same_bits(data, wanted) ? "" : "other bits";
                            }),
                  Each(""))
          << ranks << " ranks, " << count << " elements";
    }
  }
}

TEST(SharedMemoryTest, AllReduceGivesTheSameBitsHoweverItIsCut) {
  constexpr std::size_t kCount = 10'007;
  const Floats wanted = sum_of(4, kCount);
  for (const std::size_t bucket : {97u, 1000u, 3331u, 10'007u}) {
    EXPECT_THAT(both_ways(4, kCount,
                          [&](Collective& group, std::span<float> data) {
                            std::vector<Work> works;
                            for (std::size_t at = 0; at < kCount; at += bucket) {
                              const auto part = data.subspan(at, std::min(bucket, kCount - at));
                              works.push_back(group.all_reduce(all_of(part), ReduceOp::kSum));
                            }
                            for (Work& work : works) work.wait();
                            return same_bits(data, wanted) ? "" : "other bits";
                          }),
                Each(""))
        << "buckets of " << bucket;
  }
}

/// Bounds of three parts of unequal size, some of which are empty.
const std::vector<std::vector<std::uint64_t>> kUnequal{
    {0, 70, 70, 200}, {0, 0, 200, 200}, {0, 1, 3, 9000}, {0, 9000, 9000, 9000}};

TEST(SharedMemoryTest, ReduceScatterLeavesEachRankItsPart) {
  for (const auto& bounds : kUnequal) {
    const std::size_t count = bounds.back();
    const Floats wanted = sum_of(3, count);
    EXPECT_THAT(both_ways(3, count,
                          [&](Collective& group, std::span<float> data) {
                            group.reduce_scatter(all_of(data), ReduceOp::kSum, bounds).wait();
                            const std::uint64_t first = bounds[group.rank()];
                            const std::uint64_t size = bounds[group.rank() + 1] - first;
                            const bool same =
                                same_bits(data.subspan(first, size), std::span(wanted).subspan(first, size));
                            return same ? "" : "other bits";
                          }),
                Each(""))
        << fmt::format("{}", fmt::join(bounds, " "));
  }
}

TEST(SharedMemoryTest, AllGatherBringsEveryPartToAll) {
  for (const auto& bounds : kUnequal) {
    Floats wanted;
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      const Floats input = input_of(rank, bounds.back());
      wanted.insert(wanted.end(), input.begin() + bounds[rank], input.begin() + bounds[rank + 1]);
    }
    EXPECT_THAT(both_ways(3, bounds.back(),
                          [&](Collective& group, std::span<float> data) {
                            group.all_gather(all_of(data), bounds).wait();
                            return same_bits(data, wanted) ? "" : "other bits";
                          }),
                Each(""))
        << fmt::format("{}", fmt::join(bounds, " "));
  }
}

TEST(SharedMemoryTest, BroadcastBringsTheRootsElementsToAll) {
  for (const std::size_t count : {0u, 3u, 30'000u}) {
    const Floats wanted = input_of(2, count);
    EXPECT_THAT(both_ways(3, count,
                          [&](Collective& group, std::span<float> data) {
                            group.broadcast(all_of(data), 2).wait();
                            return same_bits(data, wanted) ? "" : "other bits";
                          }),
                Each(""))
        << count;
  }
}

TEST(SharedMemoryTest, OperationsOnTheSameMemoryFollowEachOtherWithoutAWaitBetweenThem) {
  constexpr std::size_t kCount = 3000;
  Floats wanted = sum_of(3, kCount);
  for (float& value : wanted) value = (value + value + value) / 3;
  EXPECT_THAT(both_ways(3, kCount,
                        [&](Collective& group, std::span<float> data) {
                          group.all_reduce(all_of(data), ReduceOp::kSum);
                          group.all_reduce(all_of(data.first(10)), ReduceOp::kMean);
                          group.all_reduce(all_of(data.subspan(10)), ReduceOp::kMean);
                          group.barrier().wait();
                          return same_bits(data, wanted) ? "" : "other bits";
                        }),
              Each(""));
}

TEST(SharedMemoryTest, ManyOperationsMayBeUnderWay) {
  constexpr std::size_t kEach = 50;
  constexpr std::size_t kOperations = 400;
  const Floats wanted = sum_of(2, kEach * kOperations);
  EXPECT_THAT(both_ways(2, kEach * kOperations,
                        [&](Collective& group, std::span<float> data) {
                          std::vector<Work> works;
                          for (std::size_t i = 0; i < kOperations; ++i) {
                            works.push_back(group.all_reduce(all_of(data.subspan(i * kEach, kEach)), ReduceOp::kSum));
                            group.progress();
                          }
                          // Waiting for the last operation also carries out those before it.
                          works.back().wait();
                          for (Work& work : works) {
                            if (!work.done()) return "not done";
                            work.wait();
                          }
                          return same_bits(data, wanted) ? "" : "other bits";
                        }),
              Each(""));
}

TEST(SharedMemoryTest, ARankThatDoesNotWaitHoldsNobodyUpInRegisteredMemory) {
  constexpr std::size_t kCount = 20'000;
  std::atomic<bool> finished = false;
  EXPECT_THAT(on_threads(
                  2,
                  [&](Collective& group) -> std::string {
                    const Buffer memory = group.allocate(kCount * sizeof(float));
                    std::ranges::copy(input_of(group.rank(), kCount), floats_in(memory).begin());
                    Work work = group.all_reduce(all_of(floats_in(memory)), ReduceOp::kSum);
                    if (group.rank() == 0) {
                      const auto error = testing::error_of([&] { work.wait(); });
                      finished = true;
                      finished.notify_all();
                      if (!error.second.empty()) return error.second;
                    } else {
                      // This rank calls no function of the group until rank 0 has the result, or has given up.
                      finished.wait(false);
                      if (!work.done()) return "not done";
                    }
                    return same_bits(floats_in(memory), sum_of(2, kCount)) ? "" : "other bits";
                  },
                  kTiny),
              Each(""));
}

TEST(SharedMemoryTest, MessagesCrossWithoutADeadlock) {
  constexpr std::size_t kCount = 400'000;  // More than fits into the rings.
  EXPECT_THAT(both_ways(3, kCount,
                        [&](Collective& group, std::span<float> data) {
                          std::vector<Floats> got(3, Floats(kCount));
                          std::vector<Work> works;
                          for (std::uint32_t other = 0; other < 3; ++other) {
                            if (other != group.rank()) works.push_back(group.send(all_of(data), other));
                          }
                          for (std::uint32_t other = 0; other < 3; ++other) {
                            if (other != group.rank()) works.push_back(group.recv(all_of(got[other]), other));
                          }
                          for (Work& work : works) work.wait();
                          for (std::uint32_t other = 0; other < 3; ++other) {
                            if (other != group.rank() && got[other] != input_of(other, kCount)) return "other bits";
                          }
                          return "";
                        }),
              Each(""));
}

TEST(SharedMemoryTest, MessagesBetweenTwoRanksKeepTheirOrder) {
  EXPECT_THAT(on_threads(2,
                         [](Collective& group) -> std::string {
                           std::int64_t numbers[1000];
                           if (group.rank() == 0) {
                             std::iota(std::begin(numbers), std::end(numbers), 0);
                             for (std::int64_t& number : numbers) group.send({&number, DType::kInt64, 1}, 1);
                           } else {
                             for (std::int64_t& number : numbers) group.recv({&number, DType::kInt64, 1}, 0);
                           }
                           group.barrier().wait();
                           for (std::int64_t i = 0; i < 1000; ++i) {
                             if (numbers[i] != i) return fmt::format("message {} holds {}", i, numbers[i]);
                           }
                           return "";
                         }),
              Each(""));
}

TEST(SharedMemoryTest, EveryRankIsToldWhoAskedForWhat) {
  const auto said = on_threads(3, [](Collective& group) -> std::string {
    Floats data(group.rank() == 2 ? 120 : 100);
    group.all_reduce(all_of(data), group.rank() == 2 ? ReduceOp::kMax : ReduceOp::kSum).wait();
    return "";
  });
  // Operation 1 is the barrier of connect().
  EXPECT_THAT(said, Each("test: operation 2 of group 'world': ranks 0, 1 asked for all_reduce(sum) of float32[100], "
                         "rank 2 for all_reduce(max) of float32[120]"));
}

TEST(SharedMemoryTest, OtherBoundsAreSeen) {
  const auto said = on_threads(2, [](Collective& group) -> std::string {
    Floats data(10);
    const std::vector<std::uint64_t> bounds{0, group.rank() == 0 ? 4u : 5u, 10};
    group.all_gather(all_of(data), bounds).wait();
    return "";
  });
  EXPECT_THAT(said,
              Each("test: operation 2 of group 'world': rank 0 asked for all_gather of float32[10] with bounds of "
                   "its own, rank 1 for all_gather of float32[10] with bounds of its own"));
}

TEST(SharedMemoryTest, MessagesOfAnotherSizeAreSeenOnBothSides) {
  const auto said = on_threads(2, [](Collective& group) -> std::string {
    Floats data(group.rank() == 0 ? 3 : 5);
    if (group.rank() == 0) group.send(all_of(data), 1).wait();
    if (group.rank() == 1) group.recv(all_of(data), 0).wait();
    group.barrier().wait();
    return "";
  });
  EXPECT_THAT(said, Each("test: rank 0 sent float32[3] to rank 1, which asked for float32[5]"));
}

TEST(SharedMemoryTest, AGroupThatIsBrokenStaysSo) {
  const auto said = on_threads(2, [](Collective& group) -> std::string {
    Floats data(group.rank() == 0 ? 3 : 5);
    const auto first = testing::error_of([&] { group.broadcast(all_of(data), 0).wait(); });
    const auto second = testing::error_of([&] { group.barrier().wait(); });
    return first == second && first.first == Code::kShapeMismatch ? "" : second.second;
  });
  EXPECT_THAT(said, Each(""));
}

TEST(SharedMemoryTest, ARankThatLeavesIsNamedByAllThatWaitForIt) {
  const auto said = on_threads(3, [](Collective& group) -> std::string {
    if (group.rank() == 1) return "";
    Floats data(10);
    // Rank 2 waits for rank 0, which is not to blame.
    if (group.rank() == 2) group.recv(all_of(data), 0).wait();
    if (group.rank() == 0) group.barrier().wait();
    return "not told";
  });
  EXPECT_EQ(said[0], "test: rank 1 left the group before operation 2 of group 'world', barrier was finished");
  EXPECT_EQ(said[2], said[0]);
}

TEST(SharedMemoryTest, WhoIsSilentIsNamedAndNotWhoWaitsForIt) {
  std::atomic<int> told = 0;
  const auto said = on_threads(3,
                               [&](Collective& group) -> std::string {
                                 Floats data(10);
                                 // Rank 1 does nothing until both others have reported an error.
                                 if (group.rank() == 1) {
                                   for (int seen = 0; seen < 2; seen = told) told.wait(seen);
                                   return "";
                                 }
                                 const auto error = testing::error_of([&] {
                                   if (group.rank() == 2) group.recv(all_of(data), 0).wait();
                                   if (group.rank() == 0) group.barrier().wait();
                                 });
                                 ++told;
                                 told.notify_all();
                                 return error.second;
                               },
                               // Long enough for the others to call the operation.
                               {.timeout = std::chrono::milliseconds(1500)});
  EXPECT_THAT(said[0], HasSubstr("rank 1 "));
  EXPECT_THAT(said[0], HasSubstr(" 1.5 s"));
  // The rank whose timeout expires first names the operation for which it waited, so the two texts may differ.
  EXPECT_THAT(said[2], HasSubstr("rank 1 "));
}

TEST(SharedMemoryTest, AMissingCallBecomesAnErrorOnBothSidesOfACircle) {
  const auto said = on_threads(2,
                               [](Collective& group) -> std::string {
                                 float value = 0;
                                 group.recv({&value, DType::kFloat32, 1}, 1 - group.rank()).wait();
                                 return "";
                               },
                               {.timeout = std::chrono::milliseconds(200)});
  EXPECT_THAT(said, Each(HasSubstr("has been silent for 0.2 s in message 1 from rank")));
}

TEST(SharedMemoryTest, MemoryOfDifferentSizesIsSeen) {
  const auto said = on_threads(2, [](Collective& group) -> std::string {
    group.allocate(group.rank() == 0 ? 100 : 200);
    return "";
  });
  EXPECT_THAT(said, Each("test: rank 0 uses memory of 100 bytes, rank 1 of 200 bytes"));
}

TEST(SharedMemoryTest, MemoryThatSomebodyHasOnTheHeapIsNotWorkedOnInPlaceByAnybody) {
  EXPECT_THAT(on_threads(
                  2,
                  [](Collective& group) -> std::string {
                    core::SharedPool pool;
                    const std::size_t bytes = 5000 * sizeof(float);
                    const Buffer memory = group.rank() == 0 ? Buffer::heap(bytes) : pool.allocate_permanent(bytes);
                    group.use(memory);
                    std::ranges::copy(input_of(group.rank(), 5000), floats_in(memory).begin());
                    group.all_reduce(all_of(floats_in(memory)), ReduceOp::kSum).wait();
                    return same_bits(floats_in(memory), sum_of(2, 5000)) ? "" : "other bits";
                  },
                  kTiny),
              Each(""));
}

TEST(SharedMemoryTest, OneMemberHasNothingToDo) {
  EXPECT_THAT(on_threads(1,
                         [](Collective& group) -> std::string {
                           const Buffer memory = group.allocate(40);
                           group.use(memory);
                           Floats data{1, 2};
                           group.all_reduce(all_of(data), ReduceOp::kMean).wait();
                           group.all_gather(all_of(data), {}).wait();
                           group.barrier().wait();
                           group.progress();
                           return data == Floats{1, 2} && group.broadcast(all_of(data), 0).done() ? "" : "changed";
                         }),
              Each(""));
}

TEST(SharedMemoryTest, RefusesWhatThereIsNot) {
  const auto said = on_threads(2, [](Collective& group) -> std::string {
    bool flag = true;
    const auto refusal = [](auto action) { return testing::error_of(action).second + "\n"; };
    return refusal([&] {
             group.all_reduce({&flag, DType::kBool, 1}, ReduceOp::kMean);
           }) +
           refusal([&] {
             group.broadcast({&flag, DType::kBool, 1}, 2);
           }) +
           refusal([&] {
             group.send({&flag, DType::kBool, 1}, group.rank());
           });
  });
  EXPECT_EQ(said[1],
            "test: there is no mean of bool; allowed are sum, min, max and product\n"
            "test: the root of a broadcast is member 2 of a group of 2; allowed are 0 to 1\n"
            "test: rank 1 cannot send to itself\n");
}

TEST(SharedMemoryTest, ParametersMustBeTheSameEverywhere) {
  const auto notes = core::make_local_rendezvous();
  const auto connect = [&](std::uint32_t rank, const char* parameters) {
    CollectiveContext context;
    context.where = "test";
    context.parameters = parameters;
    context.rank = rank;
    context.rendezvous = notes.get();
    context.name = "world";
    context.ranks = {0, 1};
    return testing::error_of([&] { shared_memory::SharedMemory(context).connect(); }).second;
  };
  std::string other;
  {
    const std::jthread rank_1([&] { other = connect(1, R"({"small_bytes": 2048})"); });
    EXPECT_THAT(connect(0, "{}"), HasSubstr("rank 1 has small_bytes=2048"));
  }
  EXPECT_THAT(other, HasSubstr("rank 0 has small_bytes=32768"));
}

}  // namespace
}  // namespace trainyard
