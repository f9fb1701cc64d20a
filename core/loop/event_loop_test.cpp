// SPDX-License-Identifier: Apache-2.0
#include "core/loop/event_loop.h"

#include <gtest/gtest.h>

#include <latch>

#include "core/edge/local_edge.h"
#include "core/testing/pipe.h"

namespace trainyard::core {
namespace {

using namespace std::chrono_literals;

TEST(EventLoopTest, RunsPostedTasksInOrderOnItsOwnThread) {
  EventLoop loop("test");
  std::vector<int> seen;
  std::thread::id ran_on;
  std::jthread thread([&] { loop.run(); });
  for (int i = 0; i < 1000; ++i) loop.post([&, i] { seen.push_back(i); });
  std::latch done(1);
  loop.post([&] {
    ran_on = std::this_thread::get_id();
    done.count_down();
  });
  done.wait();
  EXPECT_EQ(ran_on, thread.get_id());
  loop.stop();
  thread.join();
  ASSERT_EQ(seen.size(), 1000u);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(seen[i], i);
}

TEST(EventLoopTest, NoWakeUpIsLostWhenManyThreadsPostToASleepingLoop) {
  EventLoop loop("test");
  std::jthread thread([&] { loop.run(); });
  constexpr int kThreads = 4, kPosts = 5000;
  std::atomic<int> count{0};
  {
    std::vector<std::jthread> posters;
    for (int t = 0; t < kThreads; ++t) {
      posters.emplace_back([&] {
        for (int i = 0; i < kPosts; ++i) loop.post([&] { ++count; });
      });
    }
  }
  std::latch done(1);
  loop.post([&] { done.count_down(); });
  done.wait();
  EXPECT_EQ(count, kThreads * kPosts);
  loop.stop();
}

TEST(EventLoopTest, TimersRunInTheOrderOfTheirTimesAndCanBeCancelled) {
  EventLoop loop("test");
  std::vector<int> seen;
  loop.after(30ms, [&] { seen.push_back(3); });
  loop.after(10ms, [&] { seen.push_back(1); });
  const auto cancelled = loop.after(20ms, [&] { seen.push_back(2); });
  loop.cancel(cancelled);
  const auto end = EventLoop::Clock::now() + 20s;
  while (seen.size() < 2 && EventLoop::Clock::now() < end) {
    if (!loop.run_once()) loop.wait(1000ms);
  }
  EXPECT_EQ(seen, (std::vector<int>{1, 3}));
}

TEST(EventLoopTest, ATaskMayPostAndTheLoopStopsWhenTold) {
  EventLoop loop("test");
  int rounds = 0;
  std::function<void()> again = [&] {
    if (++rounds < 100) {
      loop.post(again);
    } else {
      loop.stop();
    }
  };
  loop.post(again);
  loop.run();
  EXPECT_EQ(rounds, 100);
}

/// A source that records, each time the loop polls it, how many numbers the sink has received.
class Watcher final : public Source {
 public:
  explicit Watcher(const std::vector<double>& values) : values_(values) {}
  bool poll() override {
    seen.push_back(values_.size());
    return false;
  }
  bool has_work() const override { return false; }

  std::vector<std::size_t> seen;

 private:
  const std::vector<double>& values_;
};

/// A component that takes a long time for each message, as a training step does.
class Slow final : public Component {
 public:
  explicit Slow(ComponentContext context) : Component(context) {}
  Input<Scalar> in{*this, "numbers", "numbers to take time for", [](const auto&) {
                     const auto end = EventLoop::Clock::now() + 3ms;
                     while (EventLoop::Clock::now() < end) {
                     }
                   }};
};

TEST(EventLoopTest, APostedTaskDoesNotWaitForTheWholeQueue) {
  testing::Pipe pipe;
  LocalEdge edge(pipe.source.out, pipe.sink.in, pipe.loop, 0, Policy::kBlock, 64, 1 << 20);
  pipe.source.out.add_edge(edge);
  pipe.activate();
  for (int i = 0; i < 50; ++i) pipe.source.out.send(Scalar{.name = "n", .value = 1});
  std::size_t handled = 0;
  pipe.loop.post([&] { handled = pipe.sink.values.size(); });
  pipe.run_until_idle();
  EXPECT_EQ(handled, 1u);
  EXPECT_EQ(pipe.sink.values.size(), 50u);
}

TEST(EventLoopTest, SourcesHaveTheirTurnBetweenHandlersThatTakeLong) {
  testing::Pipe pipe;
  Slow slow(pipe.context("slow"));
  LocalEdge edge(pipe.source.out, slow.in, pipe.loop, 0, Policy::kBlock, 64, 1 << 20);
  pipe.source.out.add_edge(edge);
  pipe.activate();
  slow.transition(State::kInactive);
  slow.transition(State::kActive);
  Watcher watcher(pipe.sink.values);
  pipe.loop.add(watcher);
  for (int i = 0; i < 10; ++i) pipe.source.out.send(Scalar{.name = "n", .value = 1});
  pipe.run_until_idle();
  pipe.loop.remove(watcher);
  EXPECT_GE(watcher.seen.size(), 10u);
}

}  // namespace
}  // namespace trainyard::core
