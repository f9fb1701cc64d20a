// SPDX-License-Identifier: Apache-2.0
#include "models/model.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "collectives/testing/ranks.h"
#include "core/plugin/loader.h"

namespace trainyard {
namespace {

/// A model that exchanges tensors with the other ranks during an evaluation.
class Asking final : public Model {
 public:
  explicit Asking(ModelContext& context) : Model(context) {}
  void build(const DatasetInfo&) override {}
  std::vector<NamedTensor> parameters() override { return {}; }
  void set_training(bool) override {}
  at::Tensor training_step(const ModelBatch& batch) override { return batch.tensors[0]; }
  std::vector<NamedMetric> evaluation_step(const ModelBatch& batch) override {
    const at::Tensor own = batch.tensors[0];
    return {{"mean", sync_tensor(own)},
            {"largest", sync_tensor(own, ReduceOp::kMax)},
            {"all", all_gather(own)},
            {"of 2", broadcast(own, 2)}};
  }
};

ModelContext context_of(std::uint32_t rank, std::uint32_t ranks) {
  ModelContext context;
  context.where = "model 'asking'";
  context.parameters = "{}";
  context.rank = rank;
  context.world_size = ranks;
  return context;
}

TEST(ModelTest, RanksExchangeTensorsInTheMiddleOfAStep) {
  const auto ends = testing::run_threads(3, [](std::uint32_t rank, core::Rendezvous& notes) {
    core::PluginLoader plugins(core::PluginLoader::default_directories());
    ModelContext context = context_of(rank, 3);
    context.rendezvous = &notes;
    context.plugins = &plugins;
    Asking model(context);
    model.join([&] { return make_world(context, "model", {"shared_memory"}); });
    const auto said = model.evaluation_step({"test", {at::full({2}, 1.0 + rank)}});
    EXPECT_TRUE(said[0].value.equal(at::full({2}, 2.0))) << said[0].value[0].item<double>();
    EXPECT_TRUE(said[1].value.equal(at::full({2}, 3.0)));
    EXPECT_EQ(said[2].value.sizes().vec(), (std::vector<std::int64_t>{3, 2}));
    EXPECT_EQ(said[2].value[1][0].item<double>(), 2.0);
    EXPECT_TRUE(said[3].value.equal(at::full({2}, 3.0)));
    return "";
  });
  for (const testing::RankEnd& end : ends) EXPECT_TRUE(end.returned) << end.text;
}

TEST(ModelTest, ARankAloneGetsWhatItGave) {
  ModelContext context = context_of(0, 1);
  Asking model(context);
  const auto said = model.evaluation_step({"test", {at::full({2}, 5.0)}});
  EXPECT_TRUE(said[0].value.equal(at::full({2}, 5.0)));
  EXPECT_EQ(said[2].value.sizes().vec(), (std::vector<std::int64_t>{1, 2}));
}

}  // namespace
}  // namespace trainyard
