// SPDX-License-Identifier: Apache-2.0
#include "core/process/worker.h"

#include <gtest/gtest.h>

#include "core/memory/shared_pool.h"
#include "core/testing/pipe.h"
#include "core/testing/temporary_folder.h"

namespace trainyard::core {
namespace {

using testing::NumberSource;
using testing::Pipe;
using testing::Sink;

/// A fixture with a worker whose loop the test runs, and an outlet from which the worker receives as from another
/// process.
class WorkerTest : public ::testing::Test {
 protected:
  WorkerTest() {
    for (Component* component : {static_cast<Component*>(&source_), static_cast<Component*>(&sink_)}) {
      component->transition(State::kInactive);
      component->transition(State::kActive);
    }
  }

  void run_until(const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      if (!worker_.loop.run_once()) worker_.loop.wait(std::chrono::milliseconds(1));
    }
  }

  testing::TemporaryFolder folder_;
  zmq::context_t zmq_;
  SharedPool pool_;
  Worker worker_{"trainer", "main"};
  NumberSource source_{Pipe::context("source", worker_.loop)};
  Sink sink_{Pipe::context("sink", worker_.loop)};
};

TEST_F(WorkerTest, KeepsTheInletOfADeadProcessUntilWhatCameFromItIsHandled) {
  Outlet outlet(zmq_, "ipc://" + folder_.path() + "/out", worker_.loop, pool_);
  worker_.loop.add(outlet);
  source_.out.add_edge(outlet.add_edge(source_.out, "numbers", 7, Policy::kBlock, 4, 1 << 20));
  bool connected = false;
  auto& inlet = worker_.inlets["loader/main"];
  inlet = std::make_unique<Inlet>(zmq_, outlet.endpoint(), 1, worker_.loop);
  inlet->on_connected([&] { connected = true; });
  inlet->subscribe(sink_.in, {.id = 7,
                              .topic = "numbers",
                              .policy = Policy::kBlock,
                              .window_messages = 4,
                              .transport = trainyard::Transport::kIpc});
  worker_.loop.add(*inlet);
  run_until([&] { return connected; });

  sink_.in.pause();
  source_.out.send(Scalar{.name = "n", .value = 3});
  run_until([&] { return !worker_.inlets["loader/main"]->idle(); });
  worker_.retire_inlets("loader");
  EXPECT_TRUE(worker_.inlets.empty());
  ASSERT_EQ(worker_.retired.size(), 1u);
  worker_.retire_inlets("logger");
  EXPECT_EQ(worker_.retired.size(), 1u) << "the sink still holds a message that came through it";

  sink_.in.resume();
  EXPECT_EQ(sink_.values, std::vector<double>{3}) << "what had come is not lost";
  worker_.retire_inlets("logger");
  EXPECT_TRUE(worker_.retired.empty());
  worker_.loop.remove(outlet);
}

}  // namespace
}  // namespace trainyard::core
