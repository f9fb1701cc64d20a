// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/changed_settings.h"

#include <gtest/gtest.h>

namespace trainyard::manager {
namespace {

Setting lr(const std::string& value, const std::string& instead_of) {
  return {.component = "optimizer", .parameter = "lr", .value = value, .instead_of = instead_of};
}

TEST(ChangedSettingsTest, TheNewestValueCountsAndTheFirstOneIsRemembered) {
  ChangedSettings settings;
  settings.change(lr("0.2", "0.1"));
  settings.change(lr("0.3", "0.2"));
  ASSERT_EQ(settings.all().size(), 1u);
  EXPECT_EQ(settings.all()[0].value, "0.3");
  EXPECT_EQ(settings.all()[0].instead_of, "0.1") << "the value of the launch file";
}

TEST(ChangedSettingsTest, AParameterThatIsSetBackIsNotChangedAnyMore) {
  ChangedSettings settings;
  settings.change(lr("0.2", "0.1"));
  settings.change(lr("0.1", "0.2"));
  EXPECT_TRUE(settings.all().empty());
}

TEST(ChangedSettingsTest, ParametersAreToldApartByComponentAndName) {
  ChangedSettings settings;
  settings.change(lr("0.2", "0.1"));
  settings.change({.component = "optimizer", .parameter = "weight_decay", .value = "1", .instead_of = "0"});
  settings.change({.component = "accelerator_host", .parameter = "lr", .value = "1", .instead_of = "0"});
  EXPECT_EQ(settings.all().size(), 3u);
}

TEST(ChangedSettingsTest, AResumedRunGoesOnWithWhatItHadChanged) {
  ChangedSettings settings;
  settings.resume({lr("0.2", "0.1")});
  EXPECT_EQ(settings.all().size(), 1u);
  settings.change(lr("0.1", "0.2"));
  EXPECT_TRUE(settings.all().empty());
}

}  // namespace
}  // namespace trainyard::manager
