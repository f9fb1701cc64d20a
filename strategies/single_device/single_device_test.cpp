#include "strategies/single_device/single_device.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "messages/error.h"

namespace trainyard {
namespace {

StrategyContext context() {
  StrategyContext context;
  context.where = "strategy 'single_device'";
  context.parameters = "{}";
  return context;
}

TEST(SingleDeviceTest, LeavesGradientsParametersAndMetricsAsTheyAre) {
  StrategyContext made = context();
  SingleDevice strategy(made);
  const at::Tensor values = at::ones({8});
  strategy.start(values);
  strategy.reduce({.bytes = 32}, values).wait();
  strategy.after_update(values);
  strategy.all_reduce_metrics(values);
  EXPECT_TRUE(values.equal(at::ones({8})));
  EXPECT_EQ(strategy.bucket_bytes(), 0u) << "one bucket: there is nobody to overlap with";
}

TEST(SingleDeviceTest, RefusesSeveralRanksAndNamesWhatServesThem) {
  StrategyContext made = context();
  const SingleDevice strategy(made);
  strategy.check_world_size(1);
  try {
    strategy.check_world_size(4);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kUnsupported);
    EXPECT_STREQ(error.what(),
                 "strategy 'single_device': it serves 1 rank, the run has 4; use strategy = 'ddp' for several");
  }
}

}  // namespace
}  // namespace trainyard
