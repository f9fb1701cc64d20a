// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/wiring.h"

#include <algorithm>

#include "launch/testing/plan_fixture.h"
#include "messages/log_record.h"
#include "messages/message_type.h"

namespace trainyard::launch {
namespace {

using Texts = std::vector<std::string>;

class WiringTest : public testing::PlanFixture {
 protected:
  static const EdgePlan& edge_into(const Plan& plan, const std::string& name, const std::string& input) {
    const auto found = std::ranges::find_if(
        plan.edges, [&](const EdgePlan& edge) { return plan.components[edge.to].name == name && edge.input == input; });
    if (found == plan.edges.end()) throw Error(Code::kNotFound, "no edge into {}.{}", name, input);
    return *found;
  }
};

TEST_F(WiringTest, ConnectsEveryInputToAllOutputsOfItsTopic) {
  const Plan plan = plan_six();
  EXPECT_EQ(edges_into(plan, "accelerator_host", "batches"), Texts{"data_loader.batches /batches process"});
  EXPECT_EQ(edges_into(plan, "optimizer", "gradients"), Texts{"accelerator_host.gradients /gradients thread"});
  EXPECT_EQ(edges_into(plan, "logger", "metrics"),
            (Texts{"accelerator_host.metrics /metrics process", "optimizer.metrics /metrics process",
                   "strategy_manager.metrics /metrics process"}));
  for (std::size_t i = 0; i < plan.edges.size(); ++i) EXPECT_EQ(plan.edges[i].id, i);
}

TEST_F(WiringTest, ChoosesTheTransportByPlace) {
  const Plan split = plan_six("component.logger.host = 'localhost'", {"placement=processes"});
  EXPECT_EQ(edges_into(split, "optimizer", "gradients"), Texts{"accelerator_host.gradients /gradients ipc"});
  EXPECT_EQ(edges_into(split, "logger", "model"), Texts{"accelerator_host.model /model tcp"});
}

TEST_F(WiringTest, OneListenerOverTcpDecidesTheAddressOfItsSender) {
  const Plan plan = plan_six("component.logger.host = 'localhost'", {"placement=processes"});
  EXPECT_TRUE(process(plan, "accelerator_host").tcp);
  EXPECT_FALSE(process(plan, "data_loader").tcp);
}

TEST_F(WiringTest, TakesPoliciesFromTheDeclarationUnlessTheFileSaysOtherwise) {
  const Plan plan = plan_six("component.accelerator_host.inputs.batches = { policy = 'latest', window_messages = 2 }");
  EXPECT_EQ(edge_into(plan, "accelerator_host", "batches").policy, Policy::kLatest);
  EXPECT_EQ(edge_into(plan, "accelerator_host", "batches").window_messages, 2u);
  EXPECT_EQ(edge_into(plan, "accelerator_host", "batches").window_bytes, 256u << 20);
  EXPECT_EQ(edge_into(plan, "logger", "metrics").policy, Policy::kDropOldest);
}

TEST_F(WiringTest, AnInputThatNeedsItsSenderOnItsOwnLoopIsNotPlacedApart) {
  core::PluginInfo& averager = catalogue_.add("component", "averager");
  averager.inputs = {testing::port("parameters", "Parameters")};
  averager.inputs.front().same_loop = true;
  averager.traits.of_kind = ComponentTraits{.per_rank = true, .thread = "compute"};
  const std::string text = "[component.averager]\nplugin = 'averager'\n";
  EXPECT_EQ(edges_into(plan_six(text), "averager", "parameters"), Texts{"optimizer.parameters /parameters thread"});
  EXPECT_EQ(edges_into(plan_six(text, {"devices=2"}), "rank1/averager", "parameters"),
            Texts{"rank1/optimizer.parameters /rank1/parameters thread"});
  EXPECT_EQ(
      error_six(text + "thread = 'side'"),
      "a.toml:2: component.averager: its input 'parameters' needs optimizer on its own event loop, but 'averager' "
      "runs on the thread 'side' of the process 'main', and 'optimizer' on the thread 'compute' of the process "
      "'main'; give both the same process and thread");
  EXPECT_EQ(
      testing::error_of([&] { plan_six(text, {"placement=processes"}); }, folder_.path()),
      "a.toml:2: component.averager: its input 'parameters' needs optimizer on its own event loop, but 'averager' "
      "runs on the thread 'compute' of the process 'averager', and 'optimizer' on the thread 'compute' of the "
      "process 'optimizer'; give both the same process and thread");
  EXPECT_EQ(edges_into(plan_six(text + "process = 'optimizer'", {"placement=processes"}), "averager", "parameters"),
            Texts{"optimizer.parameters /parameters thread"});
}

TEST_F(WiringTest, AnUnconnectedInputNamesComponentPortTopicAndNearestTopics) {
  EXPECT_EQ(error_six("component.logger.remap = { metrics = '/metrcs' }"),
            "a.toml:2: component.logger: input 'metrics' is not connected: nobody else sends on /metrcs; did you mean "
            "'/metrics'? known: /metrics");
  EXPECT_EQ(error("[component.optimizer]\nplugin = 'optimizer'"),
            "a.toml:1: component.optimizer: input 'arena' is not connected: nobody else sends on /arena; known: "
            "/metrics, /optimizer_state, /parameters");
}

TEST_F(WiringTest, AnOptionalInputMayStayUnconnected) {
  const Plan plan = plan_six("component.checkpoint_writer.when = false");
  EXPECT_EQ(edges_into(plan, "accelerator_host", "run_state"), Texts{});
}

TEST_F(WiringTest, EndsOfDifferentTypesAreAnErrorWithBothSchemas) {
  EXPECT_EQ(error_six("component.accelerator_host.remap = { batches = 'dataset' }"),
            "a.toml:2: component.accelerator_host: input accelerator_host.batches receives Batch, but output "
            "data_loader.dataset sends DatasetInfo on /dataset\n"
            "--- sent:\nDatasetInfo {\n  u64 step\n}\n\n--- received:\nBatch {\n  u64 step\n}\n");
}

TEST_F(WiringTest, AnInputMayHearEveryRank) {
  const Plan plan = plan_six("", {"devices=3"});
  EXPECT_EQ(edges_into(plan, "checkpoint_writer", "arena"),
            (Texts{"rank0/accelerator_host.arena /rank0/arena ipc", "rank1/accelerator_host.arena /rank1/arena ipc",
                   "rank2/accelerator_host.arena /rank2/arena ipc"}));
  EXPECT_EQ(edges_into(plan, "checkpoint_writer", "optimizer_state").size(), 3u);
  EXPECT_EQ(edges_into(plan, "rank2/accelerator_host", "snapshot_taken"),
            Texts{"checkpoint_writer.snapshot_taken /snapshot_taken ipc"});
  EXPECT_EQ(edges_into(plan_six(), "checkpoint_writer", "arena"), Texts{"accelerator_host.arena /arena process"});
}

TEST_F(WiringTest, HearingEveryRankFollowsARemap) {
  const std::vector<std::string> two{"devices=2"};
  const std::string moved =
      "component.accelerator_host.remap = { arena = 'memory' }\ncomponent.optimizer.remap = { arena = 'memory' }\n";
  EXPECT_EQ(
      edges_into(plan_six(moved + "component.checkpoint_writer.remap = { arena = 'memory' }", two), "checkpoint_writer",
                 "arena"),
      (Texts{"rank0/accelerator_host.arena /rank0/memory ipc", "rank1/accelerator_host.arena /rank1/memory ipc"}));
  const std::string once =
      "component.accelerator_host.remap = { arena = '/memory' }\ncomponent.optimizer.remap = { arena = '/memory' }\n";
  EXPECT_EQ(edges_into(plan_six(once + "component.checkpoint_writer.remap = { arena = '/memory' }", two),
                       "checkpoint_writer", "arena")
                .size(),
            2u)
      << "a topic that all ranks share is one topic";
}

TEST_F(WiringTest, OnlyWhatIsMadeOnceHearsEveryRank) {
  for (core::PortInfo& input : catalogue_.add("component", "optimizer").inputs) input.every_rank = true;
  EXPECT_EQ(edges_into(plan_six("", {"devices=2"}), "rank1/optimizer", "arena"),
            Texts{"rank1/accelerator_host.arena /rank1/arena thread"});
}

TEST_F(WiringTest, NobodyHearsItself) {
  core::PluginInfo& echo = catalogue_.add("component", "echo");
  echo.inputs = {testing::optional_port("in", "Metrics", "/metrics")};
  echo.outputs = {testing::port("out", "Metrics", "/metrics")};
  const Plan plan = plan_six("[component.echo]\nplugin = 'echo'");
  EXPECT_EQ(edges_into(plan, "echo", "in"),
            (Texts{"accelerator_host.metrics /metrics process", "optimizer.metrics /metrics process",
                   "strategy_manager.metrics /metrics thread"}));
}

TEST_F(WiringTest, TheArenaIsNotSharedOverTcp) {
  EXPECT_EQ(error_six("component.optimizer.host = '127.0.0.1'"),
            "a.toml:2: component.optimizer.host: optimizer and accelerator_host share the parameter arena "
            "(OptimizerState on /optimizer_state), which cannot be over TCP; both must have host = \"local\", or be in "
            "one process");
  EXPECT_EQ(error_six("component.checkpoint_writer.when = false\ncomponent.accelerator_host.host = '127.0.0.1'"),
            "a.toml:3: component.accelerator_host.host: optimizer and accelerator_host share the parameter arena "
            "(OptimizerState on /optimizer_state), which cannot be over TCP; both must have host = \"local\", or be in "
            "one process");
}

TEST_F(WiringTest, TheLogNeedsNoSenderBecauseEveryProcessPublishesIt) {
  core::PluginInfo& reader = catalogue_.add("component", "reader");
  const MessageType& type = message_type<LogRecord>();
  reader.inputs = {testing::port("log", type.name, kLogTopic)};
  reader.inputs.front().fingerprint = type.fingerprint;
  const std::string text = "[component.reader]\nplugin = 'reader'";
  EXPECT_TRUE(edges_into(plan_six(text), "reader", "log").empty()) << "each process finds the gateways by itself";
  EXPECT_NE(error_six(text + "\nremap = { log = '/lgo' }").find("nobody else sends on /lgo"), std::string::npos);
  reader.inputs.front().fingerprint += 1;
  EXPECT_NE(error_six(text).find("nobody else sends on /log"), std::string::npos) << "what is there has another type";
}

}  // namespace
}  // namespace trainyard::launch
