// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/topics.h"

#include "launch/testing/plan_fixture.h"

namespace trainyard::launch {
namespace {

using Texts = std::vector<std::string>;

class TopicsTest : public testing::PlanFixture {};

TEST_F(TopicsTest, DefaultsAreRelativeOrAbsolute) {
  const Plan plan = plan_six();
  EXPECT_EQ(component(plan, "data_loader").topics,
            (std::map<std::string, std::string>{
                {"batches", "/batches"}, {"dataset", "/dataset"}, {"orders", "/orders"}, {"run_state", "/run_state"}}));
}

TEST_F(TopicsTest, NamespacesMoveRelativeTopicsOnly) {
  const Plan plan = plan_six(
      "[group.eval]\nnamespace = 'eval'\n[group.eval.component.loader]\nplugin = 'data_loader'\n"
      "params = { dataset = 'synthetic' }\nremap = { dataset = 'sizes' }");
  const ComponentPlan& loader = component(plan, "eval/loader");
  EXPECT_EQ(loader.topics.at("batches"), "/eval/batches");
  EXPECT_EQ(loader.topics.at("dataset"), "/eval/sizes");
  EXPECT_EQ(loader.topics.at("orders"), "/orders");
}

TEST_F(TopicsTest, RemapsConnectWhatWouldNotMeet) {
  const Plan plan = plan_six(
      "component.data_loader.remap = { batches = '/data/train' }\n"
      "component.accelerator_host.remap = { batches = 'data/train' }");
  EXPECT_EQ(edges_into(plan, "accelerator_host", "batches"), Texts{"data_loader.batches /data/train process"});
}

TEST_F(TopicsTest, RemapsAndInputsNameExistingPorts) {
  EXPECT_EQ(error_six("component.logger.remap = { metric = '/x' }"),
            "a.toml:2: component.logger.remap.metric: 'logger' has no port 'metric'; did you mean 'metrics'? known: "
            "metrics, model");
  EXPECT_EQ(error_six("component.data_loader.inputs.batches.policy = 'latest'"),
            "a.toml:2: component.data_loader.inputs.batches: 'data_loader' has no input 'batches'; known: orders, "
            "run_state");
}

TEST_F(TopicsTest, TopicsAreShortWordsWithSlashes) {
  const std::string allowed = " is not a topic; letters, digits, '_', '-', '.' with single '/' between";
  for (const std::string topic : {"/a//b", "/a/", "", "a b", "ä"}) {
    const std::string full = topic.starts_with('/') ? topic : "/" + topic;
    EXPECT_EQ(error_six("component.logger.remap = { model = '" + topic + "' }"),
              "a.toml:2: component.logger.remap.model: \"" + full + "\"" + allowed);
  }
  EXPECT_EQ(error_six("component.logger.remap = { model = '" + std::string(200, 'x') + "' }"),
            "a.toml:2: component.logger.remap.model: the topic \"/" + std::string(39, 'x') +
                "...\" has 201 bytes; at most 200");
}

TEST_F(TopicsTest, ATopicHasOneType) {
  EXPECT_EQ(error_six("component.optimizer.remap = { parameters = 'gradients' }"),
            "a.toml:2: component.optimizer: optimizer.parameters sends Parameters on /gradients, but "
            "accelerator_host.gradients sends Gradients there; a topic has one type");
}

TEST_F(TopicsTest, WhatAllRanksSendOnATopicOfTheRunReachesWhoeverIsMadeOnce) {
  const Plan plan = plan_six("", {"devices=2", "placement=composed"});
  for (const std::string name : {"order_done", "rank_metrics", "model"}) {
    EXPECT_EQ(edges_into(plan, "strategy_manager", name),
              (Texts{"rank0/accelerator_host." + name + " /" + name + " process",
                     "rank1/accelerator_host." + name + " /" + name + " process"}));
  }
  EXPECT_EQ(edges_into(plan, "logger", "metrics").size(), 5u) << "a host and an optimizer for each rank, the manager";
}

TEST_F(TopicsTest, RanksHaveTopicsOfTheirOwnAndMeetAtTheBorder) {
  const Plan plan = plan_six("", {"devices=2", "placement=composed"});
  EXPECT_EQ(edges_into(plan, "rank1/accelerator_host", "batches"),
            Texts{"rank1/data_loader.batches /rank1/batches process"});
  EXPECT_EQ(
      edges_into(plan, "strategy_manager", "dataset"),
      (Texts{"rank0/data_loader.dataset /rank0/dataset process", "rank1/data_loader.dataset /rank1/dataset process"}));
  EXPECT_EQ(edges_into(plan, "rank1/accelerator_host", "snapshot_taken"),
            Texts{"checkpoint_writer.snapshot_taken /snapshot_taken process"});
  EXPECT_EQ(edges_into(plan, "strategy_manager", "model").size(), 2u);
}

}  // namespace
}  // namespace trainyard::launch
