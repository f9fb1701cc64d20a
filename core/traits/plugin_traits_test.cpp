// SPDX-License-Identifier: Apache-2.0
#include "core/traits/plugin_traits.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/testing/error_of.h"

namespace trainyard::core {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <class Traits>
Traits sent_and_read(const Traits& declared) {
  const nlohmann::json sent = to_json(PluginTraits{declared});
  return std::get<Traits>(plugin_traits_from_json(Traits::kPluginKind, sent, "a plugin").of_kind);
}

nlohmann::json of_strategy() { return to_json(default_traits("strategy")); }

std::string refusal(const nlohmann::json& strategy) {
  const auto [code, text] = error_of([&] { plugin_traits_from_json("strategy", strategy, "strategy 'mine'"); });
  EXPECT_EQ(code, Code::kPluginLoad);
  return text;
}

TEST(PluginTraitsTest, AStrategyIsReadAsItWasDeclared) {
  const StrategyTraits read = sent_and_read(StrategyTraits{.min_ranks = 2,
                                                           .max_ranks = 4,
                                                           .share = RanksShare::kProcess,
                                                           .same_data = true,
                                                           .gradients = GradientsOfRanks::kParts});
  EXPECT_EQ(read.min_ranks, 2u);
  EXPECT_EQ(read.max_ranks, 4u);
  EXPECT_EQ(read.share, RanksShare::kProcess);
  EXPECT_TRUE(read.same_data);
  EXPECT_EQ(read.gradients, GradientsOfRanks::kParts);
}

TEST(PluginTraitsTest, AnAcceleratorIsReadAsItWasDeclared) {
  AcceleratorReport declared{.devices = 3, .problem = "none", .traits = {.precisions = {"32-true", "bf16-mixed"}}};
  declared.traits.device_counts = {1, 4};
  declared.traits.gradient_clipping = false;
  declared.traits.shared_devices = true;
  declared.traits.memory_limit_bytes = 5'000'000'000;
  declared.traits.rules = "ipu";
  declared.traits.auto_priority = 7;
  declared.traits.auto_precision = "bf16-mixed";
  declared.traits.auto_precision_reason = "it is fast";
  const AcceleratorReport read = sent_and_read(declared);
  EXPECT_EQ(read.devices, 3);
  EXPECT_EQ(read.problem, "none");
  EXPECT_THAT(read.traits.device_counts, ElementsAre(1, 4));
  EXPECT_THAT(read.traits.precisions, ElementsAre("32-true", "bf16-mixed"));
  EXPECT_FALSE(read.traits.gradient_clipping);
  EXPECT_TRUE(read.traits.shared_devices);
  EXPECT_EQ(read.traits.memory_limit_bytes, 5'000'000'000u);
  EXPECT_EQ(read.traits.rules, "ipu");
  EXPECT_EQ(read.traits.auto_priority, 7);
  EXPECT_EQ(read.traits.auto_precision, "bf16-mixed");
  EXPECT_EQ(read.traits.auto_precision_reason, "it is fast");
}

TEST(PluginTraitsTest, ComponentsDatasetsAndModelsAreReadAsTheyWereDeclared) {
  const ComponentTraits component = sent_and_read(
      ComponentTraits{.per_rank = true, .thread = "io", .restartable = false, .memory_bytes = 1ull << 40});
  EXPECT_TRUE(component.per_rank);
  EXPECT_EQ(component.thread, "io");
  EXPECT_FALSE(component.restartable);
  EXPECT_EQ(component.memory_bytes, 1ull << 40);
  EXPECT_EQ(sent_and_read(DatasetTraits{TargetKind::kTokens}).target, TargetKind::kTokens);
  EXPECT_THAT(sent_and_read(ModelTraits{{TargetKind::kClass, TargetKind::kNumbers}}).targets,
              ElementsAre(TargetKind::kClass, TargetKind::kNumbers));
  EXPECT_THAT(sent_and_read(ModelTraits{}).targets, IsEmpty());
}

TEST(PluginTraitsTest, AKindWithoutTraitsHasNone) {
  EXPECT_TRUE(to_json(default_traits("transform")).is_null());
  EXPECT_EQ(plugin_traits_from_json("transform", nullptr, "a plugin").of_kind.index(), 0u);
}

TEST(PluginTraitsTest, ATraitThatIsMissingIsNamedWithItsPlugin) {
  nlohmann::json strategy = of_strategy();
  strategy.erase("same_data");
  EXPECT_EQ(refusal(strategy), "strategy 'mine' does not declare its trait 'same_data'");
}

TEST(PluginTraitsTest, ATraitThatIsNotKnownIsRefused) {
  nlohmann::json strategy = of_strategy();
  strategy["least_ranks"] = 2;
  EXPECT_THAT(refusal(strategy), HasSubstr("strategy 'mine' declares traits that are not allowed: StrategyTraits has "
                                           "no field 'least_ranks'"));
}

TEST(PluginTraitsTest, AValueThatIsNotAllowedIsRefused) {
  nlohmann::json strategy = of_strategy();
  strategy["gradients"] = "equals";
  EXPECT_THAT(refusal(strategy), HasSubstr("unknown relation of gradients 'equals'; did you mean 'equal'?"));
  strategy = of_strategy();
  strategy["max_ranks"] = "many";
  EXPECT_THAT(refusal(strategy), HasSubstr("StrategyTraits.max_ranks"));
}

}  // namespace
}  // namespace trainyard::core
