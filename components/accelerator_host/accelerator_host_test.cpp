// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/accelerator_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "components/accelerator_host/host_fixture.h"
#include "tensors/version.h"

// Tests the start of a run and the parameters. The kinds of orders are tested in separate files.
namespace trainyard::testing {
namespace {

TEST_F(AcceleratorHostTest, IsReadyWhenOptimizerAndCheckpointWriterAre) {
  start();
  EXPECT_EQ(arena_.model, "mlp");
  EXPECT_EQ(arena_.entries.size(), 4u);
  send("parameters", Parameters{.step = 0});
  EXPECT_TRUE(rig_.received<ModelInfo>("/model").empty()) << "parameters may still be restored";
  send("/run_state", RunState{});
  const auto infos = rig_.received<ModelInfo>("/model");
  ASSERT_EQ(infos.size(), 1u);
  EXPECT_EQ(infos[0]->parameters, 6u * 5 + 5 + 5 * 3 + 3);
  EXPECT_EQ(infos[0]->device, "cpu");
  EXPECT_EQ(infos[0]->precision, "32-true");
}

TEST_F(AcceleratorHostTest, TheSameSeedGivesTheSameParameters) {
  start();
  Rig other;
  other.add<AcceleratorHost>("accelerator_host", std::string("{") + kMlp + "}");
  other.start();
  DatasetInfo data;
  data.fields = {{"input", 7, {6}}, {"target", 4, {}}};
  data.classes = 3;
  other.send("dataset", data);
  other.run_until_idle();
  const auto info = other.received<ArenaInfo>("arena").at(0);
  EXPECT_TRUE(view_of(info->blocks[0].data).equal(view_of(arena_.blocks[0].data)));
}

TEST_F(AcceleratorHostTest, BatchesBeforeTheirOrderWait) {
  start_ready();
  send("batches", batch(1, 0));
  EXPECT_EQ(gradients(), 0u);
  send("/orders", train(1, 1));
  EXPECT_EQ(gradients(), 1u);
}

std::string text_of_configuring(const std::string& parameters) {
  Rig rig;
  try {
    rig.add<AcceleratorHost>("accelerator_host", parameters);
    rig.start();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(AcceleratorHostParametersTest, WhatIsNotThereIsRefusedBeforeTheRun) {
  EXPECT_THAT(text_of_configuring(std::string("{") + kMlp + R"(, "precision": "fp8"})"),
              ::testing::HasSubstr("64-true, 32-true, bf16-mixed, 16-mixed, bf16-true, 16-true"));
  if (!kHalfOnCpu) {
    EXPECT_THAT(text_of_configuring(std::string("{") + kMlp + R"(, "precision": "16-true"})"),
                ::testing::HasSubstr("precision '16-true' is not supported by accelerator 'cpu'; it has: 64-true, "
                                     "32-true, bf16-mixed, 16-mixed, bf16-true"));
  }
  EXPECT_THAT(text_of_configuring(R"({"model": "mpl"})"), ::testing::HasSubstr("did you mean 'mlp'"));
  EXPECT_THAT(text_of_configuring(R"({"model": {"plugin": "mlp", "hiden": [3]}})"),
              ::testing::HasSubstr("did you mean 'hidden'"));
  EXPECT_THAT(text_of_configuring(std::string("{") + kMlp + R"(, "devices": "none"})"),
              ::testing::HasSubstr("devices = 'none'"));
}

}  // namespace
}  // namespace trainyard::testing
