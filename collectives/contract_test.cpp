// SPDX-License-Identifier: Apache-2.0
#include "collectives/testing/contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <numeric>

#include "collectives/collective.h"
#include "collectives/testing/ranks.h"
#include "core/plugin/loader.h"

// Tests the requirements that every collective must meet, for every collective in the build. A collective that cannot
// work on this machine is skipped, and its error text is shown.

namespace trainyard {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::RankEnd;

constexpr std::uint32_t kMostRanks = 4;
/// The timeout of tests in which every member responds. It never expires.
constexpr auto kPatient = 30s;

std::vector<std::string> backends() {
  std::vector<std::string> names;
  for (const auto& found : core::PluginLoader(core::PluginLoader::default_directories()).list()) {
    if (found.label.kind == Collective::kKind) names.push_back(found.label.name);
  }
  return names;
}

std::vector<std::uint32_t> first_ranks(std::uint32_t count) {
  std::vector<std::uint32_t> ranks(count);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

/// A member of a group. Each member has its own plugin loader, as a process would.
class Member {
 public:
  Member(const std::string& backend, std::uint32_t rank, core::Rendezvous& notes,
         const std::vector<std::uint32_t>& ranks, std::chrono::milliseconds timeout = kPatient,
         const std::string& name = "world") {
    CollectiveContext context;
    context.where = "the test";
    context.rank = rank;
    context.plugins = plugins_.get();
    context.rendezvous = &notes;
    context.name = name;
    context.ranks = ranks;
    context.timeout = timeout;
    group_ = make_collective({backend, "{}"}, context);
  }
  Collective* operator->() { return group_.get(); }
  Collective& operator*() { return *group_; }

 private:
  std::unique_ptr<core::PluginLoader> plugins_ =
      std::make_unique<core::PluginLoader>(core::PluginLoader::default_directories());
  std::unique_ptr<Collective> group_;
};

/// Returns true if the collective cannot work on this machine.
bool is_unavailable(const std::vector<RankEnd>& ends) {
  return std::ranges::any_of(ends, [](const RankEnd& end) { return !end.returned && end.code == Code::kUnsupported; });
}

#define SKIP_IF_UNAVAILABLE(ends) \
  if (is_unavailable(ends)) GTEST_SKIP() << "skipped, " << (ends).front().text

std::string readable(const std::string& backend) {
  std::string name;
  bool begins = true;
  for (const char c : backend) {
    if (c != '_') name += begins ? static_cast<char>(::toupper(c)) : c;
    begins = c == '_';
  }
  return name;
}

// Tests without failures.

class CollectiveContractTest : public ::testing::TestWithParam<std::tuple<std::string, std::size_t>> {};

TEST_P(CollectiveContractTest, HoldsForOneToFourThreads) {
  const auto& [backend, number] = GetParam();
  const testing::ContractCheck& check = testing::contract_checks()[number];
  for (std::uint32_t count = 1; count <= kMostRanks; ++count) {
    const auto ends = testing::run_threads(count, [&](std::uint32_t rank, core::Rendezvous& notes) {
      Member group(backend, rank, notes, first_ranks(count));
      check.run(*group, notes);
      return "";
    });
    SKIP_IF_UNAVAILABLE(ends);
    for (const RankEnd& end : ends) EXPECT_TRUE(end.returned) << count << " ranks: " << end.text;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, CollectiveContractTest,
                         ::testing::Combine(::testing::ValuesIn(backends()),
                                            ::testing::Range(std::size_t{0}, testing::contract_checks().size())),
                         [](const auto& info) {
                           const auto& check = testing::contract_checks()[std::get<1>(info.param)];
                           return readable(std::get<0>(info.param)) + check.name;
                         });

class CollectiveTest : public ::testing::TestWithParam<std::string> {
 protected:
  /// Makes a group of all ranks and waits at a barrier, so that all ranks are known to have connected.
  Member world(std::uint32_t rank, core::Rendezvous& notes, std::uint32_t count, std::chrono::milliseconds timeout) {
    Member group(GetParam(), rank, notes, first_ranks(count), timeout);
    group->barrier().wait();
    return group;
  }
};

TEST_P(CollectiveTest, HoldsForProcesses) {
  const auto ends = testing::run_processes(3, [&](std::uint32_t rank, core::Rendezvous& notes) {
    Member group(GetParam(), rank, notes, first_ranks(3));
    for (const testing::ContractCheck& check : testing::contract_checks()) check.run(*group, notes);
    return "";
  });
  SKIP_IF_UNAVAILABLE(ends);
  for (const RankEnd& end : ends) EXPECT_TRUE(end.returned) << end.text;
}

TEST_P(CollectiveTest, GroupsOfSomeRanksWorkBesideTheWorld) {
  const auto ends = testing::run_threads(4, [&](std::uint32_t rank, core::Rendezvous& notes) {
    Member all(GetParam(), rank, notes, first_ranks(4));
    Member half(GetParam(), rank, notes, {rank % 2, rank % 2 + 2}, kPatient, rank % 2 == 0 ? "even" : "odd");
    std::int64_t of_all = rank, of_half = rank;
    Work first = all->all_reduce({&of_all, DType::kInt64, 1}, ReduceOp::kSum);
    Work second = half->all_reduce({&of_half, DType::kInt64, 1}, ReduceOp::kSum);
    // The ranks wait for the two operations in different orders.
    if (rank < 2) first.wait();
    second.wait();
    first.wait();
    return fmt::format("{} {} member {}", of_all, of_half, half->rank());
  });
  SKIP_IF_UNAVAILABLE(ends);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(ends[rank].text, fmt::format("6 {} member {}", rank % 2 == 0 ? 2 : 4, rank / 2));
  }
}

// Tests of failures.

void expect_names(const std::vector<RankEnd>& ends, std::uint32_t guilty, const std::vector<Code>& codes) {
  for (std::uint32_t rank = 0; rank < ends.size(); ++rank) {
    if (rank == guilty) continue;
    EXPECT_FALSE(ends[rank].returned) << rank;
    EXPECT_TRUE(std::ranges::find(codes, ends[rank].code) != codes.end()) << ends[rank].text;
    EXPECT_THAT(ends[rank].text, HasSubstr(fmt::format("rank {}", guilty))) << rank;
    EXPECT_THAT(ends[rank].text, Not(HasSubstr("ranks"))) << rank;
  }
}

TEST_P(CollectiveTest, SilentRankIsNamedByAllOthers) {
  const auto ends = testing::run_threads(4, [&](std::uint32_t rank, core::Rendezvous& notes) {
    Member group = world(rank, notes, 4, 800ms);
    if (rank == 2) {
      for (const std::uint32_t other : {0, 1, 3}) notes.get(fmt::format("failed.{}", other), kPatient);
      return std::string();
    }
    const auto tell = std::shared_ptr<void>(nullptr, [&](void*) { notes.put(fmt::format("failed.{}", rank), ""); });
    std::vector<float> values(100'000);
    group->all_reduce({values.data(), DType::kFloat32, values.size()}, ReduceOp::kSum).wait();
    return std::string("finished");
  });
  SKIP_IF_UNAVAILABLE(ends);
  expect_names(ends, 2, {Code::kTimeout});
}

TEST_P(CollectiveTest, SilentSenderIsNamed) {
  const auto ends = testing::run_threads(2, [&](std::uint32_t rank, core::Rendezvous& notes) {
    Member group = world(rank, notes, 2, 500ms);
    if (rank == 1) {
      notes.get("failed", kPatient);
      return "";
    }
    const auto tell = std::shared_ptr<void>(nullptr, [&](void*) { notes.put("failed", ""); });
    float value = 0;
    group->recv({&value, DType::kFloat32, 1}, 1).wait();
    return "";
  });
  SKIP_IF_UNAVAILABLE(ends);
  expect_names(ends, 1, {Code::kTimeout});
}

TEST_P(CollectiveTest, RankThatDoesNotComeIsNamed) {
  const auto ends = testing::run_threads(3, [&](std::uint32_t rank, core::Rendezvous& notes) {
    if (rank != 1) Member(GetParam(), rank, notes, first_ranks(3), 300ms);
    return "";
  });
  SKIP_IF_UNAVAILABLE(ends);
  expect_names(ends, 1, {Code::kTimeout});
}

/// Starts many large reductions. After the first one, sends the signal to this process.
std::string reduce_until(Collective& group, int signal) {
  constexpr std::uint64_t kCount = 1'000'000;
  std::vector<float> values(4 * kCount);
  std::vector<Work> works;
  for (int i = 0; i < 40; ++i) {
    works.push_back(group.all_reduce({&values[i % 4 * kCount], DType::kFloat32, kCount}, ReduceOp::kSum));
  }
  works[0].wait();
  if (signal != 0) ::raise(signal);
  for (Work& work : works) work.wait();
  return "finished";
}

TEST_P(CollectiveTest, KilledRankIsNamedByAllOthers) {
  const auto act = [&](std::uint32_t rank, core::Rendezvous& notes) {
    Member group = world(rank, notes, 4, 20s);
    return reduce_until(*group, rank == 2 ? SIGKILL : 0);
  };
  const auto ends = testing::run_processes(4, act, {2});
  SKIP_IF_UNAVAILABLE(ends);
  expect_names(ends, 2, {Code::kPeerLost, Code::kTimeout});
}

TEST_P(CollectiveTest, StoppedRankIsNamedByAllOthers) {
  const auto act = [&](std::uint32_t rank, core::Rendezvous& notes) {
    Member group = world(rank, notes, 3, 4s);
    return reduce_until(*group, rank == 1 ? SIGSTOP : 0);
  };
  const auto ends = testing::run_processes(3, act, {1});
  SKIP_IF_UNAVAILABLE(ends);
  expect_names(ends, 1, {Code::kPeerLost, Code::kTimeout});
}

/// Rank 2 calls another operation than the other ranks.
std::vector<RankEnd> disagree(const std::string& backend, const Elements& wanted, ReduceOp op, const Elements& other,
                              ReduceOp other_op) {
  return testing::run_threads(3, [&](std::uint32_t rank, core::Rendezvous& notes) {
    Member group(backend, rank, notes, first_ranks(3), 5s);
    std::vector<double> memory(100'000);
    Elements elements = rank == 2 ? other : wanted;
    elements.data = memory.data();
    group->all_reduce(elements, rank == 2 ? other_op : op).wait();
    return "";
  });
}

TEST_P(CollectiveTest, RanksThatDisagreeAreToldWhoAskedForWhat) {
  const Elements twelve{nullptr, DType::kFloat32, 12};
  const struct {
    Elements other;
    ReduceOp op;
    const char* text;
  } cases[] = {{{nullptr, DType::kFloat32, 90'000}, ReduceOp::kSum, "float32[90000]"},
               {{nullptr, DType::kFloat64, 12}, ReduceOp::kSum, "float64[12]"},
               {{nullptr, DType::kFloat32, 12}, ReduceOp::kMax, "max"}};
  for (const auto& one : cases) {
    const auto ends = disagree(GetParam(), twelve, ReduceOp::kSum, one.other, one.op);
    SKIP_IF_UNAVAILABLE(ends);
    for (const RankEnd& end : ends) {
      EXPECT_EQ(end.code, Code::kShapeMismatch) << end.text;
      EXPECT_THAT(end.text, HasSubstr("rank 2")) << one.text;
      EXPECT_THAT(end.text, HasSubstr(one.text));
      EXPECT_THAT(end.text, HasSubstr("float32[12]"));
    }
  }
}

// Rank 1 aborts while the others wait for an operation that it will never call. The ranks are tested both as threads
// and as processes.
std::string wait_for_a_rank_that_gives_up(Collective& group) {
  if (group.rank() == 1) {
    group.abort("its step threw: the disk is full");
    group.abort("too late to count");
  }
  std::vector<float> values(group.rank() == 1 ? 1 : 100'000);
  group.all_reduce({values.data(), DType::kFloat32, values.size()}, ReduceOp::kSum).wait();
  return "finished";
}

void expect_given_up(const std::vector<RankEnd>& ends) {
  for (const RankEnd& end : ends) {
    EXPECT_FALSE(end.returned);
    EXPECT_EQ(end.code, Code::kPeerLost) << end.text;
    EXPECT_THAT(end.text, HasSubstr("rank 1 gave up group 'world': its step threw: the disk is full"));
  }
}

TEST_P(CollectiveTest, RankThatGivesUpEndsTheWaitOfAllThreads) {
  const auto ends = testing::run_threads(3, [&](std::uint32_t rank, core::Rendezvous& notes) {
    Member group = world(rank, notes, 3, kPatient);
    return wait_for_a_rank_that_gives_up(*group);
  });
  SKIP_IF_UNAVAILABLE(ends);
  expect_given_up(ends);
}

TEST_P(CollectiveTest, RankThatGivesUpEndsTheWaitOfAllProcesses) {
  const auto ends = testing::run_processes(3, [&](std::uint32_t rank, core::Rendezvous& notes) {
    Member group = world(rank, notes, 3, kPatient);
    return wait_for_a_rank_that_gives_up(*group);
  });
  SKIP_IF_UNAVAILABLE(ends);
  expect_given_up(ends);
}

TEST_P(CollectiveTest, ReceiverIsToldThatTheSenderGaveUp) {
  const auto ends = testing::run_threads(2, [&](std::uint32_t rank, core::Rendezvous& notes) {
    Member group = world(rank, notes, 2, kPatient);
    float value = 0;
    if (rank == 1) group->abort("it has had enough");
    if (rank == 0) group->recv({&value, DType::kFloat32, 1}, 1).wait();
    return "";
  });
  SKIP_IF_UNAVAILABLE(ends);
  EXPECT_EQ(ends[0].code, Code::kPeerLost);
  EXPECT_THAT(ends[0].text, HasSubstr("rank 1 gave up group 'world': it has had enough"));
}

TEST_P(CollectiveTest, MemoryOfASpaceThatIsNotServedIsRefused) {
  using collectives::OperationKind;
  const MemorySpace device{MemoryKind::kDevice, 3};
  const auto ends = testing::run_threads(2, [&](std::uint32_t rank, core::Rendezvous& notes) {
    Member group(GetParam(), rank, notes, first_ranks(2));
    EXPECT_TRUE(group->serves(OperationKind::kAllReduce, {}));
    EXPECT_TRUE(group->serves(OperationKind::kSend, {MemoryKind::kSharedHost}));
    float value = 0;
    if (!group->serves(OperationKind::kAllReduce, device)) {
      group->all_reduce({&value, DType::kFloat32, 1, device}, ReduceOp::kSum).wait();
    } else if (!group->serves(OperationKind::kSend, device)) {
      group->send({&value, DType::kFloat32, 1, device}, 1 - rank).wait();
    } else {
      throw Error(Code::kUnsupported, "every space is served, in the memory of device 3 too");
    }
    return "";
  });
  SKIP_IF_UNAVAILABLE(ends.front().text.find("does not work on") == std::string::npos ? ends : std::vector<RankEnd>{});
  for (const RankEnd& end : ends) {
    EXPECT_EQ(end.code, Code::kUnsupported);
    EXPECT_THAT(end.text, HasSubstr("does not work on the memory of device 3; copy the elements"));
  }
}

TEST_P(CollectiveTest, MeanOfTruthValuesIsRefused) {
  const auto ends = testing::run_threads(2, [&](std::uint32_t rank, core::Rendezvous& notes) {
    Member group(GetParam(), rank, notes, first_ranks(2));
    bool value = true;
    group->all_reduce({&value, DType::kBool, 1}, ReduceOp::kMean).wait();
    return "";
  });
  SKIP_IF_UNAVAILABLE(ends.front().text.find("there is no mean") == std::string::npos ? ends : std::vector<RankEnd>{});
  for (const RankEnd& end : ends) EXPECT_THAT(end.text, HasSubstr("there is no mean of bool"));
}

TEST_P(CollectiveTest, BoundsThatDoNotCutAreRefused) {
  const auto ends = testing::run_threads(2, [&](std::uint32_t rank, core::Rendezvous& notes) {
    Member group(GetParam(), rank, notes, first_ranks(2));
    std::vector<float> values(10);
    const std::vector<std::uint64_t> bounds{0, 7, 9};
    group->all_gather({values.data(), DType::kFloat32, 10}, bounds).wait();
    return "";
  });
  SKIP_IF_UNAVAILABLE(ends);
  for (const RankEnd& end : ends) {
    EXPECT_EQ(end.code, Code::kInvalidArgument);
    EXPECT_THAT(end.text, HasSubstr("do not cut 10 elements into 2 parts"));
  }
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, CollectiveTest, ::testing::ValuesIn(backends()),
                         [](const auto& info) { return readable(info.param); });

}  // namespace
}  // namespace trainyard
