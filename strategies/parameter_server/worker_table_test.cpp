// SPDX-License-Identifier: Apache-2.0
#include "strategies/parameter_server/worker_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <memory>
#include <thread>

#include "core/memory/shared_pool.h"
#include "core/testing/error_of.h"

namespace trainyard::parameter_server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::chrono::minutes kLong{10};  ///< Longer than any test, so no wait ends by its timeout.
constexpr std::chrono::milliseconds kShort{50};

void wait_until(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) throw Error(Code::kTimeout, "the test waited {} s in vain", 60);
    std::this_thread::yield();
  }
}

class WorkerTableTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kRanks = 4;

  std::unique_ptr<WorkerTable> worker(std::uint32_t rank, std::chrono::milliseconds timeout = kLong) {
    return std::make_unique<WorkerTable>(
        memory_, WorkerTable::Member{.where = "server", .rank = rank, .ranks = kRanks, .timeout = timeout});
  }

  core::SharedPool pool_;
  Buffer memory_ = pool_.allocate_permanent(WorkerTable::bytes(kRanks));
};

TEST_F(WorkerTableTest, OneWorkerAtATimeHasTheTurn) {
  constexpr int kUpdates = 2000;
  std::uint64_t parameter = 0;  // Not atomic, because only the worker that has the turn accesses it.
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      threads.emplace_back([&, rank] {
        const auto self = worker(rank);
        for (int i = 0; i < kUpdates; ++i) {
          self->lock();
          parameter += 1;
          EXPECT_EQ(self->count_update(), parameter);
          self->unlock();
        }
      });
    }
  }
  EXPECT_EQ(parameter, kRanks * kUpdates);
  EXPECT_EQ(worker(0)->updates(), kRanks * kUpdates);
}

/// Makes the calls that a worker makes in one step.
void step(WorkerTable& self, std::uint64_t staleness) {
  self.wait_until_begun(staleness);
  self.lock();
  self.count_update();
  self.end_step();
  self.unlock();
  self.wait_until_near(staleness);
  self.begin_step();
}

class BoundTest : public WorkerTableTest, public ::testing::WithParamInterface<std::uint64_t> {};

TEST_P(BoundTest, HoldsTheOthersBackAndLetsThemGoAgain) {
  const std::uint64_t staleness = GetParam();
  constexpr std::uint64_t kSteps = 10;
  const auto slow = worker(3);
  std::vector<std::unique_ptr<WorkerTable>> quick;
  for (std::uint32_t rank = 0; rank < 3; ++rank) quick.push_back(worker(rank));
  std::vector<std::jthread> threads;
  for (const auto& one : quick) {
    threads.emplace_back([&self = *one, staleness] {
      for (std::uint64_t i = 0; i < kSteps; ++i) step(self, staleness);
    });
  }
  for (std::uint64_t done = 0; done < kSteps; ++done) {
    const std::uint64_t most = std::min(done + staleness + 1, kSteps);
    wait_until([&] { return slow->updates() == 3 * most + done; });
    if (most < kSteps) {
      wait_until([&] { return slow->waiting().size() == 3; });
      for (const auto& one : quick) EXPECT_EQ(one->ended(), most);
    }
    step(*slow, staleness);
  }
  threads.clear();
  EXPECT_EQ(slow->updates(), 4 * kSteps);
  if (staleness < kSteps) {
    EXPECT_EQ(slow->widest_spread(), staleness);
  }
}

INSTANTIATE_TEST_SUITE_P(Steps, BoundTest, ::testing::Values(0, 1, 3, 20));

TEST_F(WorkerTableTest, WithoutStalenessNobodyUpdatesBeforeAllHaveBegunTheStep) {
  const auto quick = worker(0), slow = worker(1), third = worker(2), fourth = worker(3);
  for (WorkerTable* one : {quick.get(), slow.get(), third.get(), fourth.get()}) one->end_step();
  for (WorkerTable* one : {quick.get(), third.get(), fourth.get()}) one->begin_step();
  std::jthread thread([&] { step(*quick, 0); });
  wait_until([&] { return quick->waiting() == std::vector<std::uint32_t>{0}; });
  EXPECT_EQ(quick->updates(), 0u);
  slow->begin_step();
  wait_until([&] { return quick->updates() == 1; });
  for (WorkerTable* one : {slow.get(), third.get(), fourth.get()}) one->end_step();
}

TEST_F(WorkerTableTest, WorkersAtAMeetingHoldNobodyBackAndAllAreLevelAfterIt) {
  std::vector<std::unique_ptr<WorkerTable>> workers;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) workers.push_back(worker(rank));
  const auto come = [](WorkerTable& self) {
    self.meet();
    self.level();
    self.meet();
  };
  std::vector<std::jthread> threads;
  for (std::uint32_t rank = 1; rank < kRanks; ++rank) threads.emplace_back([&, rank] { come(*workers[rank]); });
  wait_until([&] { return workers[0]->waiting() == std::vector<std::uint32_t>{1, 2, 3}; });
  for (int i = 0; i < 5; ++i) step(*workers[0], 1);
  EXPECT_EQ(workers[0]->widest_spread(), 0u);
  come(*workers[0]);
  threads.clear();
  for (const auto& one : workers) EXPECT_EQ(one->ended(), 5u);
}

/// A forked process, which runs `action` with the table and then does nothing more until it is killed.
class Child {
 public:
  explicit Child(const std::function<void()>& action) : pid_(::fork()) {
    if (pid_ != 0) return;
    action();
    for (;;) ::pause();
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

class DeadlineTest : public WorkerTableTest {
 protected:
  std::string name(std::uint32_t rank, const Child& child) {
    return fmt::format("rank {} (process {})", rank, child.pid());
  }
};

TEST_F(DeadlineTest, AHolderThatIsKilledIsNamedToThoseThatWait) {
  const auto self = worker(0);
  const Child child([&] {
    const auto holder = worker(2);
    holder->lock();
    holder->count_update();
    for (;;) ::pause();
  });
  wait_until([&] { return self->updates() == 1; });
  std::jthread killer([&] {
    wait_until([&] { return !self->waiting().empty(); });
    ::kill(child.pid(), SIGKILL);  // The process is not reaped, so it remains a zombie until the end of the test.
  });
  const auto [code, text] = testing::error_of([&] { self->lock(); });
  EXPECT_EQ(code, Code::kPeerLost);
  EXPECT_EQ(text, "server: rank 0 waited for its turn at the server; " + name(2, child) + " is gone");
}

TEST_F(DeadlineTest, AHolderThatIsStoppedIsNamedInTime) {
  const auto self = worker(0, kShort);
  const Child child([&] {
    const auto holder = worker(2);
    holder->lock();
    holder->count_update();
    ::raise(SIGSTOP);
  });
  int status = 0;
  ASSERT_EQ(::waitpid(child.pid(), &status, WUNTRACED), child.pid());
  ASSERT_TRUE(WIFSTOPPED(status));
  const auto [code, text] = testing::error_of([&] { self->lock(); });
  EXPECT_EQ(code, Code::kTimeout);
  EXPECT_EQ(text,
            "server: rank 0 waited for its turn at the server; " + name(2, child) + " did not move within 0.05 s");
  EXPECT_THAT(self->waiting(), IsEmpty());
}

TEST_F(DeadlineTest, AWorkerThatIsBehindAndGoneIsNamed) {
  const auto self = worker(0), second = worker(1), third = worker(2);
  const Child child([&] {
    const auto behind = worker(3);
    behind->count_update();
    ::raise(SIGKILL);
  });
  wait_until([&] { return self->updates() == 1; });
  for (WorkerTable* one : {self.get(), second.get(), third.get()}) one->end_step();
  const auto [code, text] = testing::error_of([&] { self->wait_until_near(0); });
  EXPECT_EQ(code, Code::kPeerLost);
  EXPECT_EQ(text, "server: rank 0 waited for workers more than 0 steps behind; " + name(3, child) + " is gone");
}

TEST_F(DeadlineTest, WhoHasNotComeToAMeetingIsNamed) {
  const auto self = worker(0, kShort), second = worker(1), fourth = worker(3);
  auto third = worker(2);
  std::jthread comes([&] { EXPECT_THAT(testing::error_of([&] { second->meet(); }).second, StartsWith("server")); });
  wait_until([&] { return self->waiting() == std::vector<std::uint32_t>{1}; });
  const auto [code, text] = testing::error_of([&] { self->meet(); });
  EXPECT_EQ(code, Code::kTimeout);
  EXPECT_EQ(text, fmt::format("server: rank 0 waited for all workers to meet; rank 2 (process {0}), rank 3 (process "
                              "{0}) did not move within 0.05 s",
                              ::getpid()));
  third.reset();  // The second worker stops waiting, too, because the third one has left.
}

TEST_F(DeadlineTest, NotWhoOnlyWaitsIsBlamedButWhoHasTheTurn) {
  const auto self = worker(0, kShort), waits = worker(1), third = worker(2), holder = worker(3);
  holder->lock();
  std::jthread thread([&] {
    waits->lock();
    waits->unlock();
  });
  wait_until([&] { return self->waiting() == std::vector<std::uint32_t>{1}; });
  for (WorkerTable* one : {self.get(), third.get(), holder.get()}) one->end_step();
  const auto [code, text] = testing::error_of([&] { self->wait_until_near(0); });
  EXPECT_EQ(code, Code::kTimeout);
  EXPECT_THAT(text, ::testing::HasSubstr("; rank 3 (process"));
  holder->unlock();
}

TEST_F(DeadlineTest, WhoMovesMayTakeHisTime) {
  constexpr std::chrono::seconds kTimeout{1};
  constexpr std::uint64_t kNoBound = 1'000'000'000'000;
  const auto self = worker(0, kTimeout);
  const auto until = std::chrono::steady_clock::now() + 2 * kTimeout;
  std::vector<std::jthread> others;
  for (std::uint32_t rank = 1; rank < kRanks; ++rank) {
    others.emplace_back([&, rank] {
      const auto other = worker(rank);
      while (std::chrono::steady_clock::now() < until) step(*other, kNoBound);
      other->meet();
    });
  }
  EXPECT_EQ(testing::error_of([&] { self->meet(); }).second, "");
}

}  // namespace
}  // namespace trainyard::parameter_server
