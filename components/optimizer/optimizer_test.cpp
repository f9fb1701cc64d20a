// SPDX-License-Identifier: Apache-2.0
#include "components/optimizer/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/testing/rig.h"
#include "messages/error.h"

namespace trainyard {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// A rank with a matrix [2, 3] at element 0 and a bias [3] at element 16. All parameters are 1.
struct Rank {
  Tensor parameters = Tensor::empty(DType::kFloat32, {32});
  Tensor gradients = Tensor::empty(DType::kFloat32, {32});
  ArenaInfo arena;

  Rank() {
    std::ranges::fill(parameters.as<float>(), 0.0f);
    std::ranges::fill(gradients.as<float>(), 0.0f);
    std::fill_n(parameters.as<float>().begin(), 6, 1.0f);
    std::fill_n(parameters.as<float>().begin() + 16, 3, 1.0f);
    arena.model = "tiny";
    arena.blocks = {{"parameters", parameters}, {"gradients", gradients}};
    arena.entries = {{"layer.weight", "parameters", 7, {2, 3}, 0}, {"layer.bias", "parameters", 7, {3}, 64}};
  }

  void set_gradients(float value) {
    std::fill_n(gradients.as<float>().begin(), 6, value);
    std::fill_n(gradients.as<float>().begin() + 16, 3, value);
  }
  float weight() const { return parameters.as<float>()[0]; }
  float bias() const { return parameters.as<float>()[16]; }
};

class OptimizerTest : public ::testing::Test {
 protected:
  Optimizer& start(const std::string& parameters, bool with_run_state = true) {
    auto& optimizer = rig_.add<Optimizer>("optimizer", parameters);
    rig_.start();
    rig_.send("arena", rank_.arena);
    if (with_run_state) rig_.send("/run_state", RunState{});
    rig_.run_until_idle();
    return optimizer;
  }

  /// Sends the gradients of one step and returns the learning rate in the answer.
  double step(std::uint64_t number, float gradient, double scale = 1, std::uint64_t total = 0) {
    rank_.set_gradients(gradient);
    rig_.send("gradients", Gradients{.step = number, .scale = scale, .total_steps = total});
    rig_.run_until([&] { return answers().back()->step == number; });
    return answers().back()->learning_rate;
  }

  std::vector<std::shared_ptr<const Parameters>> answers() { return rig_.received<Parameters>("parameters"); }

  testing::Rig rig_;
  Rank rank_;
};

TEST_F(OptimizerTest, SaysThatItIsReadyAndWhereItsStateLies) {
  start(R"({"rule": "adamw", "betas": [0.9, 0.95], "weight_decay": 0.1, "lr": 0.002})");
  ASSERT_EQ(answers().size(), 1u);
  EXPECT_EQ(answers()[0]->step, 0u);
  const auto states = rig_.received<OptimizerState>("optimizer_state");
  ASSERT_EQ(states.size(), 1u);
  EXPECT_EQ(states[0]->rule, "adamw");
  ASSERT_EQ(states[0]->blocks.size(), 2u);
  EXPECT_EQ(states[0]->blocks[0].name, "exp_avg");
  EXPECT_EQ(states[0]->blocks[1].name, "exp_avg_sq");
  EXPECT_EQ(states[0]->blocks[1].data.shape, rank_.parameters.shape);
  EXPECT_THAT(states[0]->blocks[1].data.as<float>(), Each(0.0f));
  EXPECT_TRUE(states[0]->blocks[0].data.buffer.shared().has_value()) << "other processes must be able to map it";
  EXPECT_EQ(states[0]->hyperparameters.at("lr"), 0.002);
  EXPECT_EQ(states[0]->hyperparameters.at("beta2"), 0.95);
}

TEST_F(OptimizerTest, AStepUsesTheScaleAnswersAndLeavesZeroGradients) {
  start(R"({"rule": "sgd", "lr": 0.5})");
  EXPECT_EQ(step(1, 2, 0.25), 0.5);
  EXPECT_EQ(rank_.weight(), 0.75f);
  EXPECT_EQ(rank_.bias(), 0.75f);
  EXPECT_THAT(rank_.gradients.as<float>(), Each(0.0f));
  EXPECT_EQ(rank_.parameters.as<float>()[7], 0.0f) << "padding";
}

TEST_F(OptimizerTest, WaitsForEveryBucket) {
  start(R"({"rule": "sgd", "lr": 0.5})");
  rank_.set_gradients(1);
  rig_.send("gradients", Gradients{.step = 1, .bucket = 0, .buckets = 2});
  rig_.run_until_idle();
  EXPECT_EQ(rank_.weight(), 1.0f);
  rig_.send("gradients", Gradients{.step = 1, .bucket = 1, .buckets = 2});
  rig_.run_until_idle();
  EXPECT_EQ(rank_.weight(), 0.5f);
  EXPECT_EQ(answers().back()->step, 1u);
}

TEST_F(OptimizerTest, AResumedRunGoesOnWithItsStepCount) {
  start(R"({"rule": "sgd", "lr": 1, "schedule": "linear"})", false);
  rank_.set_gradients(0);
  rig_.send("gradients", Gradients{.step = 76, .total_steps = 100});
  rig_.run_until_idle();
  EXPECT_EQ(answers().size(), 1u) << "it must wait until it knows where the run begins";
  rig_.send("/run_state", RunState{.resumed = true, .step = 75});
  rig_.run_until([&] { return answers().size() == 2; });
  EXPECT_EQ(answers().back()->step, 76u);
  EXPECT_DOUBLE_EQ(answers().back()->learning_rate, 0.25);
}

TEST_F(OptimizerTest, WithoutACheckpointWriterItStartsAtZero) {
  auto& optimizer = rig_.add<Optimizer>("optimizer", R"({"rule": "sgd", "lr": 1})");
  rig_.start();
  for (InputBase* input : optimizer.inputs()) {
    if (input->name() == "run_state") input->set_connections(0);
  }
  rig_.send("arena", rank_.arena);
  rig_.run_until_idle();
  step(1, 1);
  EXPECT_EQ(rank_.weight(), 0.0f);
}

TEST_F(OptimizerTest, TheLearningRateCanBeChangedWhileRunning) {
  auto& optimizer = start(R"({"rule": "sgd", "lr": 0.5, "schedule": "linear", "total_steps": 4})");
  EXPECT_EQ(step(1, 0), 0.5);
  optimizer.set_parameter("lr", 1.0);
  EXPECT_EQ(step(2, 0), 0.75) << "the new base, on the schedule";
  EXPECT_THROW(optimizer.set_parameter("momentum", 0.5), Error);
}

TEST_F(OptimizerTest, DefaultsAreThoseOfTorchForTheRule) {
  start(R"({"rule": "adagrad", "initial_accumulator_value": 0.5})");
  const auto state = rig_.received<OptimizerState>("optimizer_state").at(0);
  EXPECT_EQ(state->hyperparameters.at("eps"), 1e-10);
  EXPECT_EQ(state->hyperparameters.at("lr"), 0.01);
  const auto sum = state->blocks.at(0).data.as<float>();
  EXPECT_EQ(sum[5], 0.5f);
  EXPECT_EQ(sum[6], 0.0f) << "padding stays zero";
  EXPECT_EQ(sum[18], 0.5f);
}

TEST_F(OptimizerTest, DecayAndLearningRateCanDifferByName) {
  start(
      R"({"rule": "sgd", "lr": 0.5, "weight_decay": 0.5, "weight_decay_on": "matrices", "lr_scale": ["*.bias=0.5"]})");
  step(1, 1);
  EXPECT_EQ(rank_.weight(), 1 - 0.5f * (1 + 0.5f));
  EXPECT_EQ(rank_.bias(), 1 - 0.25f);
}

TEST_F(OptimizerTest, OneCycleMovesTheMomentumOfSgd) {
  start(R"({"rule": "sgd", "lr": 0.5, "schedule": "one_cycle", "total_steps": 10})");
  EXPECT_EQ(rig_.received<OptimizerState>("optimizer_state").at(0)->blocks.size(), 1u);
  EXPECT_NEAR(step(1, 1), 0.02, 1e-12);
  EXPECT_NEAR(step(2, 1), 0.26, 1e-12);
  // The momentum buffer is 1 after the first step, and m + 1 after the second, where the momentum m is halfway between
  // 0.95 and 0.85.
  EXPECT_NEAR(rank_.weight(), 1 - 0.02 - 0.26 * 1.9, 1e-6);
}

TEST_F(OptimizerTest, GradientsOutOfOrderAreABug) {
  start(R"({"rule": "sgd"})");
  rig_.send("gradients", Gradients{.step = 3});
  EXPECT_THAT([&] { rig_.run_until_idle(); }, ThrowsMessage<Error>(HasSubstr("gradients of step 3 came after step 0")));
}

TEST_F(OptimizerTest, AnArenaElsewhereIsRefused) {
  rank_.arena.device = "cuda:0";
  EXPECT_THAT([&] { start("{}"); }, ThrowsMessage<Error>(HasSubstr("the arena of rank 0 is on 'cuda:0'")));
}

TEST_F(OptimizerTest, ADeviceOnWhichItCannotWorkIsAnErrorWithAReason) {
  EXPECT_THAT(
      [&] { start(R"({"memory": "device"})"); },
      ThrowsMessage<Error>(HasSubstr("memory = 'device' is not possible: the accelerator host of rank 0 does not "
                                     "give this process the memory of its device")));
}

TEST_F(OptimizerTest, AnArenaOfADeviceWithoutAPluginIsNotOpened) {
  rank_.arena.shared = SharedArena{.parameters = {.device = {"abacus", "7"}}};
  EXPECT_THAT([&] { start("{}"); }, ThrowsMessage<Error>(HasSubstr("no device named 'abacus'")));
}

TEST_F(OptimizerTest, WorksInHostMemoryIfItIsToldTo) {
  rank_.arena.shared = SharedArena{.parameters = {.device = {"abacus", "7"}}};
  start(R"({"memory": "host", "rule": "sgd", "lr": 0.5})");
  EXPECT_FALSE(rig_.received<OptimizerState>("optimizer_state").at(0)->on_device);
  step(1, 1);
  EXPECT_EQ(rank_.weight(), 0.5F);
}

TEST_F(OptimizerTest, AnArenaWithoutGradientsIsRefused) {
  rank_.arena.blocks.pop_back();
  EXPECT_THAT([&] { start("{}"); },
              ThrowsMessage<Error>(HasSubstr("the arena of rank 0 has no block 'gradients'; it has: parameters")));
}

TEST(OptimizerOptionsTest, WhatMakesNoSenseIsRefusedBeforeTheRunStarts) {
  const auto configure = [](const std::string& parameters) {
    testing::Rig rig;
    rig.add<Optimizer>("optimizer", parameters);
    rig.start();
  };
  EXPECT_THAT([&] { configure(R"({"rule": "adamm"})"); }, ThrowsMessage<Error>(HasSubstr("adamw")));
  EXPECT_THAT([&] { configure(R"({"betas": [0.9]})"); },
              ThrowsMessage<Error>(HasSubstr("component 'optimizer': betas: 1 numbers are not allowed")));
  EXPECT_THAT([&] { configure(R"({"eps": 0})"); }, ThrowsMessage<Error>(HasSubstr("eps: 0 is not allowed")));
  EXPECT_THAT([&] { configure(R"({"lr": -0.1})"); },
              ThrowsMessage<Error>(HasSubstr("lr: -0.1 is not allowed; a number >= 0, or -1 for torch's default")));
  EXPECT_THAT([&] { configure(R"({"schedule": "step"})"); }, ThrowsMessage<Error>(HasSubstr("needs step_size")));
  EXPECT_THAT([&] { configure(R"({"rule": "adagrad", "schedule": "one_cycle"})"); },
              ThrowsMessage<Error>(HasSubstr("rule = 'adagrad' has none")));
  EXPECT_THAT([&] { configure(R"({"lr_scale": ["x"]})"); }, ThrowsMessage<Error>(HasSubstr("lr_scale: 'x'")));
  EXPECT_THAT([&] { configure(R"({"rule": "sgd", "nesterov": true})"); },
              ThrowsMessage<Error>(HasSubstr("nesterov needs a momentum")));
}

}  // namespace
}  // namespace trainyard
