// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/evaluation_mode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "strategies/testing/rank_team.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

ModelContext empty_context() {
  ModelContext context;
  context.where = "model 'switched'";
  context.parameters = "{}";
  return context;
}

/// A model that records the modes to which it is switched.
class Switched final : public Model {
 public:
  explicit Switched(ModelContext context) : Model(context) {}
  void build(const DatasetInfo&) override {}
  std::vector<NamedTensor> parameters() override { return {}; }
  void set_training(bool training) override { switched.push_back(training); }
  at::Tensor training_step(const ModelBatch&) override { return {}; }
  std::vector<NamedMetric> evaluation_step(const ModelBatch&) override { return {{"loss", at::Tensor()}}; }

  std::vector<bool> switched;
};

struct EvaluationModeTest : ::testing::Test {
  Switched model{empty_context()};
  testing::RankTeam team{1, "single_device"};
  EvaluationMode mode{model, team.member(0).strategy()};
};

TEST_F(EvaluationModeTest, TheModelIsToldOnlyOfChanges) {
  EXPECT_THAT(model.switched, ElementsAre(true)) << "at first it trains";
  mode.train();
  mode.begin();
  mode.end();
  mode.begin();
  mode.end();
  mode.train();
  EXPECT_THAT(model.switched, ElementsAre(true, false, true));
}

TEST_F(EvaluationModeTest, TheEvaluationIsThatOfTheStrategy) {
  mode.begin();
  const std::vector<NamedMetric> metrics = mode.evaluation().evaluate(model, testing::made_up_rows(1, 2));
  ASSERT_EQ(metrics.size(), 1u);
  EXPECT_EQ(metrics[0].name, "loss");
  mode.end();
}

TEST_F(EvaluationModeTest, TrainingGoesOnAfterAnEvaluationThatWasBrokenOff) {
  mode.begin();
  mode.train();
  EXPECT_THAT(model.switched, ElementsAre(true, false, true));
  mode.begin();
  mode.end();
}

}  // namespace
}  // namespace trainyard
