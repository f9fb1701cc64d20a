// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/quantity_text.h"

#include <gtest/gtest.h>

namespace trainyard::tools {
namespace {

TEST(QuantityTextTest, ChoosesUnitsThatPeopleCanRead) {
  EXPECT_EQ(seconds_text(0), "0 s");
  EXPECT_EQ(seconds_text(1.25), "1.25 s");
  EXPECT_EQ(seconds_text(12345), "12345 s");
  EXPECT_EQ(seconds_text(0.0099812), "9.981 ms");
  EXPECT_EQ(seconds_text(-0.002), "-2 ms");
  EXPECT_EQ(seconds_text(12.5e-6), "12.5 us");
  EXPECT_EQ(seconds_text(3e-9), "3 ns");
  EXPECT_EQ(bytes_text(812), "812 B");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(1020.0 * 1024), "1020 KiB");
  EXPECT_EQ(bytes_text(3.0 * 1024 * 1024 * 1024), "3 GiB");
  EXPECT_EQ(hertz_text(99.98), "99.98 Hz");
  EXPECT_EQ(hertz_text(12500), "12500 Hz");
}

}  // namespace
}  // namespace trainyard::tools
