// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/schema_difference.h"

#include <gtest/gtest.h>

namespace trainyard::launch {
namespace {

constexpr const char* kHere = "A {\n  u64 step\n  list<B> parts\n}\nB {\n  f64 loss\n  string name\n}\n";

std::string changed(std::string from, const std::string& to) {
  std::string text = kHere;
  return text.replace(text.find(from), from.size(), to);
}

TEST(SchemaDifferenceTest, NamesTheFirstFieldThatDiffers) {
  EXPECT_EQ(schema_difference(kHere, changed("u64 step", "i64 step")),
            "; they differ in the field 'step' of A: u64 here, i64 there");
  EXPECT_EQ(schema_difference(kHere, changed("f64 loss", "f32 loss")),
            "; they differ in the field 'loss' of B: f64 here, f32 there");
  EXPECT_EQ(schema_difference(kHere, changed("  f64 loss\n", "")),
            "; they differ in the field 'loss' of B, which is only here");
  EXPECT_EQ(schema_difference(changed("  f64 loss\n", ""), kHere),
            "; they differ in the field 'loss' of B, which is only there");
  EXPECT_EQ(schema_difference(kHere, changed("f64 loss\n  string name", "string name\n  f64 loss")),
            "; they differ in the order of the fields of B: 'loss' here, 'name' there");
}

TEST(SchemaDifferenceTest, SaysNothingAboutTypesOfOtherNamesOrEqualTypes) {
  EXPECT_EQ(schema_difference(kHere, kHere), "");
  EXPECT_EQ(schema_difference(kHere, changed("A {", "C {")), "");
  EXPECT_EQ(schema_difference(kHere, "no schema"), "");
}

}  // namespace
}  // namespace trainyard::launch
