// SPDX-License-Identifier: Apache-2.0
#include "components/optimizer/rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messages/error.h"

namespace trainyard::optimizer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

TEST(RuleTest, StateBlocksAreNamedAsInTorch) {
  EXPECT_THAT(state_names(formula_of({.kind = RuleKind::kSgd})), IsEmpty());
  EXPECT_THAT(state_names(formula_of({.kind = RuleKind::kSgd, .momentum = 0.9})), ElementsAre("momentum_buffer"));
  EXPECT_THAT(state_names(formula_of({.kind = RuleKind::kAdam})), ElementsAre("exp_avg", "exp_avg_sq"));
  EXPECT_THAT(state_names(formula_of({.kind = RuleKind::kAdamW, .amsgrad = true})),
              ElementsAre("exp_avg", "exp_avg_sq", "max_exp_avg_sq"));
  EXPECT_THAT(state_names(formula_of({.kind = RuleKind::kRmsprop, .momentum = 0.9, .centered = true})),
              ElementsAre("square_avg", "grad_avg", "momentum_buffer"));
  EXPECT_THAT(state_names(formula_of({.kind = RuleKind::kRmsprop, .momentum = 0.9})),
              ElementsAre("square_avg", "momentum_buffer"));
  EXPECT_THAT(state_names(formula_of({.kind = RuleKind::kAdagrad})), ElementsAre("sum"));
}

TEST(RuleTest, AScheduleThatMovesTheMomentumNeedsABufferForIt) {
  EXPECT_EQ(formula_of({.kind = RuleKind::kSgd}, true), Formula::kSgdMomentum);
  EXPECT_EQ(formula_of({.kind = RuleKind::kRmsprop}, true), Formula::kRmspropMomentum);
  const auto c = coefficients({.kind = RuleKind::kSgd, .momentum = 0.9}, {.step = 2, .lr = 0.1, .momentum = 0.8});
  EXPECT_EQ(c.decay1, 0.8);
  EXPECT_EQ(coefficients({.kind = RuleKind::kAdamW}, {.step = 2, .lr = 0.1, .momentum = 0.8}).gain1, 1 - 0.8);
}

TEST(RuleTest, DampeningSparesTheFirstStep) {
  const Rule rule{.kind = RuleKind::kSgd, .momentum = 0.9, .dampening = 0.25};
  EXPECT_EQ(coefficients(rule, {.step = 1, .lr = 0.1}).gain1, 1);
  EXPECT_EQ(coefficients(rule, {.step = 2, .lr = 0.1}).gain1, 0.75);
}

TEST(RuleTest, DefaultsAreThoseOfTorch) {
  EXPECT_EQ(default_lr(RuleKind::kAdamW), 1e-3);
  EXPECT_EQ(default_lr(RuleKind::kRmsprop), 1e-2);
  EXPECT_EQ(default_lr(RuleKind::kAdagrad), 1e-2);
  EXPECT_EQ(default_eps(RuleKind::kAdagrad), 1e-10);
  EXPECT_EQ(default_eps(RuleKind::kAdam), 1e-8);
  EXPECT_EQ(default_weight_decay(RuleKind::kAdamW), 1e-2);
  EXPECT_EQ(default_weight_decay(RuleKind::kAdam), 0);
}

TEST(RuleTest, OptionsThatTorchRefusesAreRefused) {
  EXPECT_THAT([] { check({.kind = RuleKind::kSgd, .nesterov = true}); },
              ThrowsMessage<Error>(HasSubstr("nesterov needs a momentum and no dampening; momentum = 0 ")));
  EXPECT_THAT([] { check({.kind = RuleKind::kSgd, .momentum = 0.9, .dampening = 0.1, .nesterov = true}); },
              ThrowsMessage<Error>(HasSubstr("dampening = 0.1 were given")));
  EXPECT_THAT([] { check({.kind = RuleKind::kAdam, .beta1 = 1}); },
              ThrowsMessage<Error>(HasSubstr("betas: [1, 0.999] is not allowed")));
  EXPECT_NO_THROW(check({.kind = RuleKind::kRmsprop, .beta1 = 1}));
}

TEST(RuleTest, CheckpointsAreToldTheOptionsThatCount) {
  const auto adamw = hyperparameters({.kind = RuleKind::kAdamW, .beta2 = 0.95}, 0.1);
  EXPECT_EQ(adamw.at("beta2"), 0.95);
  EXPECT_EQ(adamw.at("weight_decay"), 0.1);
  EXPECT_FALSE(adamw.contains("alpha"));
  EXPECT_TRUE(hyperparameters({.kind = RuleKind::kRmsprop}, 0).contains("alpha"));
  EXPECT_TRUE(hyperparameters({.kind = RuleKind::kSgd}, 0).contains("dampening"));
  EXPECT_TRUE(hyperparameters({.kind = RuleKind::kAdagrad}, 0).contains("lr_decay"));
}

}  // namespace
}  // namespace trainyard::optimizer
