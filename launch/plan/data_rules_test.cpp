// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/data_rules.h"

#include "launch/testing/plan_fixture.h"

namespace trainyard::launch {
namespace {

class DataRulesTest : public testing::PlanFixture {
 protected:
  DataRulesTest() { catalogue_.add("model", "free"); }
};

TEST_F(DataRulesTest, AModelThatCannotLearnFromItsDatasetIsRefused) {
  EXPECT_EQ(error_six(""), "(no error)");
  EXPECT_EQ(error_six("component.data_loader.params.dataset = { plugin = 'text', path = 'x' }"),
            "six.toml:2: component.accelerator_host.params.model: the model mlp learns a class, but the target of the "
            "dataset text (a.toml:2) is a token for each token");
  EXPECT_EQ(error_six("", {"devices=2", "component.data_loader.params.dataset={plugin='text', path='x'}"}),
            "six.toml:2: component.accelerator_host.params.model: the model mlp learns a class, but the target of the "
            "dataset text (command line) is a token for each token");
}

TEST_F(DataRulesTest, WhatTheTargetIsMayDependOnTheParametersOfTheDataset) {
  catalogue_.special_answers[{"text", R"({"context":1,"path":"x"})"}] = {{DatasetTraits{}}, ""};
  EXPECT_EQ(error_six("component.data_loader.params.dataset = { plugin = 'text', path = 'x', context = 1 }"),
            "(no error)");
}

TEST_F(DataRulesTest, WhatDeclaresNothingIsNotRefused) {
  EXPECT_EQ(error_six("component.accelerator_host.params.model = 'free'"), "(no error)");
  catalogue_.say("synthetic", DatasetTraits{});
  EXPECT_EQ(error_six(""), "(no error)");
}

TEST_F(DataRulesTest, AModelThatLearnsSeveralThingsIsShownWithAll) {
  catalogue_.say("free", ModelTraits{{TargetKind::kTokens, TargetKind::kNumbers}});
  EXPECT_EQ(error_six("component.accelerator_host.params.model = 'free'"),
            "a.toml:2: component.accelerator_host.params.model: the model free learns a token for each token or "
            "numbers, but the target of the dataset synthetic (six.toml:4) is a class");
}

}  // namespace
}  // namespace trainyard::launch
