// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/accelerator_rules.h"

#include <gmock/gmock.h>

#include "launch/testing/plan_fixture.h"

namespace trainyard::launch {
namespace {

/// Tests with an accelerator `card`, whose rules the test sets and which can depend on its parameters.
class AcceleratorRulesTest : public testing::PlanFixture {
 protected:
  AcceleratorRulesTest() { say(card_); }

  /// Sets what the accelerator `card` reports about itself.
  void say(const AcceleratorReport& report) { catalogue_.say("card", report); }

  std::string refusal(const std::string& text, const std::vector<std::string>& arguments = {}) {
    return error_six(text, arguments);
  }

  AcceleratorReport card_{.devices = 4, .problem = "", .traits = {.precisions = {"32-true", "bf16-mixed"}}};
};

constexpr const char* kCard = "[topology]\naccelerator = 'card'\n";

TEST_F(AcceleratorRulesTest, WhatKeepsTheRulesPasses) {
  EXPECT_EQ(refusal(std::string(kCard) + "devices = [3]\nprecision = 'bf16-mixed'"), "(no error)");
  EXPECT_EQ(catalogue_.asked_anew, 0) << "what was remembered is enough";
}

TEST_F(AcceleratorRulesTest, AnAcceleratorThatIsNotThereIsRefusedWithItsOwnWords) {
  card_.devices = 0;
  say(card_);
  EXPECT_EQ(refusal(kCard),
            "a.toml:3: topology.accelerator: the accelerator card is not available on this machine, "
            "rule available: it has no devices");
  card_.problem = "libcard.so: no such file";
  say(card_);
  EXPECT_EQ(refusal(kCard),
            "a.toml:3: topology.accelerator: the accelerator card is not available on this machine, "
            "rule available: libcard.so: no such file");
}

TEST_F(AcceleratorRulesTest, BeforeItIsRefusedItIsAskedAnew) {
  card_.devices = 0;
  say(card_);
  refusal(kCard);
  EXPECT_EQ(catalogue_.asked_anew, 1);
}

TEST_F(AcceleratorRulesTest, MoreDevicesThanThereAreAreRefused) {
  EXPECT_EQ(refusal(std::string(kCard) + "devices = 5"),
            "a.toml:4: topology.devices: 5 is not allowed with the accelerator card, rule devices: this machine has 4");
  EXPECT_EQ(refusal(std::string(kCard) + "devices = [0, 4]"),
            "a.toml:4: topology.devices: [0,4] is not allowed with the accelerator card, rule devices: this machine "
            "has 4, counted from 0");
}

TEST_F(AcceleratorRulesTest, MoreRanksThanDevicesMayShareThemWhereItSaysSo) {
  card_.traits.shared_devices = true;
  say(card_);
  EXPECT_EQ(refusal(std::string(kCard) + "devices = 5"), "(no error)");
  EXPECT_NE(refusal(std::string(kCard) + "devices = [0, 4]"), "(no error)") << "there is no number 4";
}

TEST_F(AcceleratorRulesTest, TheCommandLineIsNamedWhereItGaveTheValue) {
  EXPECT_EQ(refusal(kCard, {"devices=5"}),
            "command line: topology.devices: 5 is not allowed with the accelerator card, rule devices: this machine "
            "has 4");
}

TEST_F(AcceleratorRulesTest, NumbersOfDevicesThatItsRulesLackAreRefused) {
  card_.traits.device_counts = {1, 4};
  say(card_);
  EXPECT_EQ(refusal(std::string(kCard) + "devices = 4"), "(no error)");
  EXPECT_EQ(refusal(std::string(kCard) + "devices = 2"),
            "a.toml:4: topology.devices: 2 is not allowed with the accelerator card, rule device_counts: 1, 4");
}

TEST_F(AcceleratorRulesTest, APrecisionThatItLacksIsRefused) {
  card_.traits.precisions = {"32-true"};
  say(card_);
  EXPECT_EQ(refusal(std::string(kCard) + "precision = 'bf16-mixed'"),
            "a.toml:4: topology.precision: bf16-mixed is not allowed with the accelerator card, rule precisions: "
            "32-true");
}

TEST_F(AcceleratorRulesTest, ShortNamesOfPrecisionsAreHeldToTheRulesOfTheLongOnes) {
  EXPECT_EQ(refusal(std::string(kCard) + "precision = '32'"), "(no error)");
  EXPECT_EQ(refusal(std::string(kCard) + "precision = 'bf16'"), "(no error)");
  EXPECT_THAT(refusal(std::string(kCard) + "precision = '16'"), ::testing::HasSubstr("topology.precision: 16 is not "));
}

TEST_F(AcceleratorRulesTest, ClippingIsRefusedUnlessItIsSwitchedOff) {
  card_.traits.gradient_clipping = false;
  say(card_);
  EXPECT_EQ(refusal(kCard, {"component.accelerator_host.params.clip_norm=0"}), "(no error)");
  EXPECT_EQ(refusal(std::string(kCard) + "[component.accelerator_host.params]\nclip_norm = 1.5"),
            "a.toml:5: component.accelerator_host.params.clip_norm: 1.5 is not allowed with the accelerator card, rule "
            "gradient_clipping: none, that is 0");
}

TEST_F(AcceleratorRulesTest, RulesMayDependOnTheAcceleratorsOwnParameters) {
  catalogue_.add("accelerator", "card").parameters = {testing::parameter("kind", ValueKind::kString, R"("free")")};
  AcceleratorReport strict = card_;
  strict.traits.device_counts = {1};
  strict.traits.rules = "strict";
  catalogue_.special_answers[{"card", R"({"kind":"strict"})"}] = {{strict}, ""};
  EXPECT_EQ(refusal("[topology]\naccelerator = { plugin = 'card', kind = 'free' }\ndevices = 2"), "(no error)");
  EXPECT_EQ(refusal("[topology]\naccelerator = { plugin = 'card', kind = 'strict' }\ndevices = 2"),
            "a.toml:4: topology.devices: 2 is not allowed with the accelerator card (strict), rule device_counts: 1");
}

TEST_F(AcceleratorRulesTest, AutoIsHeldToTheRulesOfTheOneThatIsTaken) {
  AcceleratorReport better = card_;
  better.traits.auto_priority = 90;
  better.devices = 1;
  catalogue_.say("better", better);
  EXPECT_EQ(refusal("[topology]\naccelerator = 'auto'\ndevices = 3"),
            "a.toml:4: topology.devices: 3 is not allowed with the accelerator better, rule devices: this machine has "
            "1");
}

TEST_F(AcceleratorRulesTest, ADefaultAcceleratorHasRulesToo) {
  card_.devices = 2;
  catalogue_.say("cpu", card_);
  EXPECT_EQ(refusal("", {"devices=3"}),
            "command line: topology.devices: 3 is not allowed with the accelerator cpu, rule devices: this machine has "
            "2");
}

TEST_F(AcceleratorRulesTest, RanksThatShareDevicesAreWarnedOf) {
  card_.devices = 2;
  card_.traits.shared_devices = true;
  catalogue_.say("cpu", card_);
  EXPECT_THAT(plan_six("", {"devices=2"}).warnings, ::testing::IsEmpty());
  EXPECT_THAT(plan_six("", {"devices=3"}).warnings,
              ::testing::ElementsAre("3 ranks share the 2 devices of the accelerator cpu; they slow each other down"));
}

TEST_F(AcceleratorRulesTest, ThePlanSaysWhereParametersWereWritten) {
  EXPECT_EQ(component(plan_six(kCard), "accelerator_host").places.at("accelerator"), folder_.path() + "/a.toml:3");
}

}  // namespace
}  // namespace trainyard::launch
