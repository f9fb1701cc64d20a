// SPDX-License-Identifier: Apache-2.0
#include "models/stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(StageTest, TensorsAreChosenByTheBeginningOfTheirNamesInTheirOrder) {
  const std::vector<NamedTensor> all{{"b.weight", {}}, {"a.weight", {}}, {"b.bias", {}}, {"ab", {}}};
  std::vector<std::string> names;
  for (const NamedTensor& named : with_prefix(all, "b.")) names.push_back(named.name);
  EXPECT_THAT(names, ::testing::ElementsAre("b.weight", "b.bias"));
  EXPECT_EQ(with_prefix(all, "").size(), 4u);
  EXPECT_TRUE(with_prefix(all, "c").empty());
}

}  // namespace
}  // namespace trainyard
