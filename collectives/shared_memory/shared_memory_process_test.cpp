// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "collectives/shared_memory/test_ranks.h"

// Tests with ranks in separate processes, for behaviour that ranks in threads cannot show.

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using testing::RankOptions;
using testing::RankProcesses;

constexpr std::uint32_t kRanks = 4;
constexpr std::size_t kCount = 300'000;

Elements floats_of(const Buffer& buffer) { return {buffer.data(), DType::kFloat32, buffer.size() / sizeof(float)}; }

/// Returns memory that all ranks have mapped if `registered` is true, otherwise ordinary memory.
Buffer memory_of(Collective& group, bool registered) {
  return registered ? group.allocate(kCount * sizeof(float)) : Buffer::heap(kCount * sizeof(float));
}

TEST(SharedMemoryProcessTest, FourProcessesReduceInPlaceAndThroughStagingMemory) {
  RankProcesses ranks(kRanks, [](Collective& group) -> std::string {
    for (const bool registered : {true, false}) {
      const Buffer memory = memory_of(group, registered);
      const std::span<float> data(reinterpret_cast<float*>(memory.data()), kCount);
      for (int round = 1; round <= 20; ++round) {
        for (std::size_t i = 0; i < kCount; ++i) data[i] = static_cast<float>((i + group.rank()) % 1000 * round);
        group.all_reduce(floats_of(memory), ReduceOp::kSum).wait();
        for (std::size_t i = 0; i < kCount; ++i) {
          float wanted = 0;
          for (std::size_t rank = 0; rank < kRanks; ++rank) wanted += static_cast<float>((i + rank) % 1000 * round);
          if (data[i] != wanted) return fmt::format("round {}, element {}: {}, not {}", round, i, data[i], wanted);
        }
        group.barrier().wait();
      }
    }
    return "right";
  });
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) EXPECT_EQ(ranks.said(rank), "right");
}

/// Returns a function that reduces for ever. Rank 2 creates the file `note` when a few reductions are done.
testing::RankBody endless(const std::string& note, bool registered) {
  return [=](Collective& group) -> std::string {
    const Buffer memory = memory_of(group, registered);
    for (int round = 0;; ++round) {
      if (round == 5 && group.rank() == 2) std::ofstream(note) << "here";
      group.all_reduce(floats_of(memory), ReduceOp::kMax).wait();
      float small = 1;
      group.all_reduce({&small, DType::kFloat32, 1}, ReduceOp::kSum).wait();
    }
  };
}

class LostRankTest : public ::testing::TestWithParam<bool> {
 protected:
  testing::TemporaryFolder folder_;

  /// Sends the signal to rank 2 and checks the errors of the others.
  void expect_rank_2_is_named(int signal, const std::string& how, const RankOptions& options) {
    const std::string note = folder_.path("here");
    RankProcesses ranks(kRanks, endless(note, GetParam()), options);
    ASSERT_TRUE(testing::wait_for_note(note));
    ::kill(ranks.pid(2), signal);
    for (const std::uint32_t rank : {0, 1, 3}) EXPECT_THAT(ranks.said(rank), HasSubstr("rank 2 " + how));
  }
};

TEST_P(LostRankTest, EveryOtherNamesARankThatIsKilled) { expect_rank_2_is_named(SIGKILL, "is gone (its process", {}); }

TEST_P(LostRankTest, EveryOtherNamesARankThatIsStopped) {
  expect_rank_2_is_named(SIGSTOP, "", {.timeout = std::chrono::milliseconds(700)});
}

INSTANTIATE_TEST_SUITE_P(Both, LostRankTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "InPlace" : "Staged"; });

TEST(SharedMemoryProcessTest, ARankThatIsGoneBeforeAnOperationIsNamed) {
  RankProcesses ranks(2,
                      [](Collective& group) -> std::string {
                        if (group.rank() == 1) ::raise(SIGKILL);
                        group.barrier().wait();
                        return "";
                      },
                      {});
  EXPECT_THAT(ranks.said(0), HasSubstr("rank 1 is gone"));
}

}  // namespace
}  // namespace trainyard
