// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/predict_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/accelerator_host/host_fixture.h"

namespace trainyard::testing {
namespace {

TEST_F(AcceleratorHostTest, PredictionsComeBatchByBatch) {
  start_ready();
  send("/orders", Order{.id = 1, .kind = OrderKind::kPredict, .split = "predict", .batches = 2});
  send("batches", batch(1, 0, 4, "predict"));
  send("batches", batch(1, 1, 2, "predict"));
  const auto said = rig_.received<Prediction>("/predictions");
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0]->order, 1u);
  EXPECT_EQ(said[1]->tensors[0].elements(), 2);
  EXPECT_EQ(done(), 1u);
}

TEST_F(AcceleratorHostTest, WhatAModelCannotDoIsAnErrorThatNamesIt) {
  start_ready();
  try {
    send("/orders", Order{.id = 1, .kind = OrderKind::kGenerate, .split = "predict"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("model 'mlp' of component 'accelerator_host' classifies samples"));
  }
}

}  // namespace
}  // namespace trainyard::testing
