// SPDX-License-Identifier: Apache-2.0
// Tests that the bottleneck of a run is found. The test slows down one part of real runs: the reading of samples, the
// update of the parameters, or the model. This part takes much longer than all others, so the load of the machine does
// not affect the result.

#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <ostream>
#include <zmq.hpp>

#include "messages/error.h"
#include "tests/integration/training/training_fixture.h"
#include "visitors/run_info.h"
#include "visitors/run_observer.h"

namespace trainyard {
namespace {

using testing::Command;
using testing::TrainingTest;
using Names = std::vector<std::string>;

/// The part that slows a run down, and the component that must be found as the bottleneck.
struct Slowness {
  std::string test;
  int ranks = 1;
  std::vector<std::string> arguments;
  Names named;  ///< In the order of their names.

  friend std::ostream& operator<<(std::ostream& out, const Slowness& slowness) { return out << slowness.test; }
};

// A batch has one sample, so each of these takes 32 ms for each step.
constexpr const char* kLoader = "component.data_loader.params.transforms=[{plugin=\"dawdle\",sample_s=0.032}]";
constexpr const char* kOptimizer = "component.optimizer.params.update_s=0.032";
constexpr const char* kModel = "component.accelerator_host.params.model={plugin=\"moody\",step_s=0.032}";
// The same, but only on rank 1.
constexpr const char* kLoader1 =
    "component.data_loader.params.transforms=[{plugin=\"dawdle\",sample_s=0.032,only_rank=1}]";
constexpr const char* kModel1 = "component.accelerator_host.params.model={plugin=\"moody\",step_s=0.032,slow_rank=1}";

class BottleneckTest : public TrainingTest, public ::testing::WithParamInterface<Slowness> {
 protected:
  /// Trains with an optimizer that the test can slow down. It is not connected to the checkpoint writer.
  std::unique_ptr<Command> train_slowly(const Slowness& slowness) {
    std::vector<std::string> arguments{"devices=" + std::to_string(slowness.ranks),
                                       "component.data_loader.params.batch_size=1"};
    if (slowness.ranks > 1) arguments.push_back("strategy=ddp");
    arguments.insert(arguments.end(), slowness.arguments.begin(), slowness.arguments.end());
    return train("slow", arguments, R"([component.optimizer]
plugin = "sluggish"
[component.checkpoint_writer]
when = false
)");
  }

  /// Observes the run for one more interval. Returns the names of the bottlenecks, in order.
  static Names look(visitors::RunObserver& observer) {
    Names names;
    for (const visitors::Bottleneck& each : observer.observe().bottlenecks) names.push_back(each.component);
    std::ranges::sort(names);
    return names;
  }
};

TEST_P(BottleneckTest, IsNamed) {
  const auto training = train_slowly(GetParam());
  ASSERT_TRUE(eventually([&] { return steps("slow").size() >= 10; })) << training->all();
  zmq::context_t context;
  visitors::RegistryClient registry(context, visitors::find_run("").registry);
  visitors::RunObserver observer(registry);
  observer.observe();
  Names named;
  std::size_t before = steps("slow").size();
  EXPECT_TRUE(eventually([&] {
    // An interval ends when the run has made some more steps.
    const std::size_t now = steps("slow").size();
    if (now < before + 10) return false;
    before = now;
    named = look(observer);
    return named == GetParam().named;
  })) << "named "
      << ::testing::PrintToString(named);
  ::kill(-training->pid(), SIGINT);
  training->wait();
}

INSTANTIATE_TEST_SUITE_P(
    Slow, BottleneckTest,
    ::testing::Values(
        Slowness{"Loader", 1, {kLoader}, {"data_loader"}}, Slowness{"Optimizer", 1, {kOptimizer}, {"optimizer"}},
        Slowness{"Rank", 1, {kModel}, {"accelerator_host"}},
        Slowness{"LoaderAndOptimizer", 1, {kLoader, kOptimizer}, {"data_loader", "optimizer"}},
        Slowness{"LoaderAndRank", 1, {kLoader, kModel}, {"accelerator_host", "data_loader"}},
        Slowness{"OptimizerAndRank", 1, {kOptimizer, kModel}, {"accelerator_host", "optimizer"}},
        Slowness{"LoaderOfTwoRanks", 2, {kLoader1}, {"rank1/data_loader"}},
        Slowness{"OptimizerOfTwoRanks", 2, {kOptimizer, "component.optimizer.params.only_rank=1"}, {"rank1/optimizer"}},
        Slowness{"RankOfTwoRanks", 2, {kModel1}, {"rank1/accelerator_host"}}),
    [](const auto& info) { return info.param.test; });

}  // namespace
}  // namespace trainyard
