// SPDX-License-Identifier: Apache-2.0
#include "accelerators/simulated/simulated.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <chrono>
#include <sstream>

#include "messages/error.h"

namespace trainyard {
namespace {

class SimulatedTest : public testing::Test {
 protected:
  std::unique_ptr<Simulated> make(const std::string& parameters) {
    context_.where = "accelerator 'simulated'";
    context_.parameters = parameters;
    context_.log = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(said_));
    auto made = std::make_unique<Simulated>(context_);
    made->check_all_given_are_known();
    return made;
  }

  AcceleratorContext context_;
  std::ostringstream said_;
};

TEST_F(SimulatedTest, AnIpuHasPowersOfTwoNoClippingAndAStaticGraph) {
  const AcceleratorTraits traits = make(R"({"kind": "ipu"})")->traits();
  EXPECT_EQ(traits.rules, "ipu");
  EXPECT_EQ(traits.device_counts, (std::vector<int>{1, 2, 4, 8, 16, 32, 64}));
  EXPECT_FALSE(traits.gradient_clipping);
  EXPECT_TRUE(traits.static_graph_only);
  EXPECT_FALSE(traits.host_memory);
  EXPECT_EQ(traits.memory_limit_bytes, 900'000'000u);
  EXPECT_EQ(std::ranges::count(traits.precisions, "bf16-mixed"), 0);
}

TEST_F(SimulatedTest, ATpuHasOneOrEightAndAnHpuUpToEight) {
  EXPECT_THAT(make(R"({"kind": "tpu"})")->traits().device_counts, testing::ElementsAre(1, 8));
  EXPECT_EQ(make(R"({"kind": "tpu"})")->device_count(), 8);
  EXPECT_TRUE(make(R"({"kind": "hpu"})")->traits().device_counts.empty());
  EXPECT_THROW(make(R"({"kind": "hpu"})")->parse_devices("9"), Error);
}

TEST_F(SimulatedTest, IsNeverTakenByItself) {
  for (const char* kind : {"ipu", "tpu", "hpu", "custom"}) {
    EXPECT_EQ(make(std::string(R"({"kind": ")") + kind + "\"}")->traits().auto_priority, 0) << kind;
  }
}

TEST_F(SimulatedTest, WhatIsGivenReplacesTheRuleOfTheKind) {
  const auto own = make(R"({"kind": "ipu", "device_counts": [1, 3], "gradient_clipping": true,
                            "precisions": ["64-true"], "memory_limit_bytes": 0})");
  EXPECT_THAT(own->traits().device_counts, testing::ElementsAre(1, 3));
  EXPECT_EQ(own->device_count(), 3);
  EXPECT_TRUE(own->traits().gradient_clipping);
  EXPECT_THAT(own->traits().precisions, testing::ElementsAre("64-true"));
  EXPECT_EQ(own->traits().memory_limit_bytes, 0u) << "a rule can be lifted";
  EXPECT_TRUE(own->traits().static_graph_only) << "the rest stays";
}

TEST_F(SimulatedTest, OtherKindsAreRefused) {
  EXPECT_THROW(make(R"({"kind": "npu"})"), Error);
  EXPECT_THROW(make(R"({"link": 3})"), Error);
}

TEST_F(SimulatedTest, TransfersTakeTheTimeThatTheirBytesNeed) {
  const auto slow = make(R"({"link_gb_per_s": 0.001, "step_latency_us": 2000})");
  const auto device = slow->claim(0);
  const auto begin = std::chrono::steady_clock::now();
  // This takes the time for 5000 bytes at 1 MB/s, and the latency.
  device->to_device({at::ones({1000}), at::ones({250})});
  at::Tensor to = at::zeros({2000});
  device->copy_block(to, at::ones({2000}));  // This takes the time for 8000 bytes.
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(to.sum().item<float>(), 2000);
  EXPECT_DOUBLE_EQ(device->stats().at("waited_seconds"), 0.005 + 0.002 + 0.008);
  EXPECT_EQ(device->stats().at("link_bytes"), 13000);
  EXPECT_GE(took.count(), 0.015) << "really waited for";
}

TEST_F(SimulatedTest, WithoutALinkNothingIsWaitedFor) {
  const auto accelerator = make("{}");
  const auto fast = accelerator->claim(0);
  fast->to_device({at::ones({1000})});
  EXPECT_EQ(fast->stats().at("waited_seconds"), 0);
}

TEST_F(SimulatedTest, ANewShapeIsWarnedOfWhereTheGraphIsStatic) {
  const auto ipu = make(R"({"kind": "ipu", "step_latency_us": 0})");
  const auto device = ipu->claim(0);
  device->to_device({at::ones({8, 3})});
  device->to_device({at::ones({8, 3})});
  EXPECT_EQ(said_.str(), "");
  device->to_device({at::ones({5, 3})});
  EXPECT_THAT(said_.str(), testing::HasSubstr("rule static_graph_only: a batch of another shape came, number 2"));
}

TEST_F(SimulatedTest, IsDescribedWithoutParameters) {
  context_.where = "accelerator 'simulated'";
  const Simulated described(context_);
  EXPECT_TRUE(described.is_available());
  EXPECT_EQ(described.traits().auto_priority, 0);
}

}  // namespace
}  // namespace trainyard
