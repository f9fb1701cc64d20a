// SPDX-License-Identifier: Apache-2.0
#include "components/logger/number_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

namespace trainyard {
namespace {

std::string exact(double value) {
  std::string out;
  append_exact(out, value);
  return out;
}

TEST(NumberTextTest, ExactTextReadsBackAsTheSameDouble) {
  for (double value : {0.1, 1.0 / 3, 1e-300, 4.170012345678901, -2.5, 123456789012345680.0,
                       std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max()}) {
    EXPECT_EQ(std::strtod(exact(value).c_str(), nullptr), value) << exact(value);
  }
}

TEST(NumberTextTest, ExactTextOfAWholeNumberHasNoExponent) {
  EXPECT_EQ(exact(2'000'000), "2000000");
  EXPECT_EQ(exact(0), "0");
  EXPECT_EQ(exact(-0.0), "-0");
  EXPECT_EQ(exact(1e-5), "1e-05");
}

TEST(NumberTextTest, ExactTextNamesWhatIsNotFinite) {
  EXPECT_EQ(exact(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(exact(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST(NumberTextTest, SecondsKeepMicrosecondsWithoutRounding) {
  std::string out;
  append_seconds(out, 1'732'176'886'000'123'999);
  EXPECT_EQ(out, "1732176886.000123");
}

TEST(NumberTextTest, SignificantKeepsSixDigits) {
  EXPECT_EQ(significant(2.1034), "2.10340");
  EXPECT_EQ(significant(0.001234567), "0.00123457");
  EXPECT_EQ(significant(123456), "123456");
  EXPECT_EQ(significant(std::numeric_limits<double>::infinity()), "inf");
}

TEST(NumberTextTest, CompactStepsUpBeforeFourDigits) {
  EXPECT_EQ(compact(0.25), "0.25");
  EXPECT_EQ(compact(950), "950");
  EXPECT_EQ(compact(999.7), "1.0k");
  EXPECT_EQ(compact(4123), "4.1k");
  EXPECT_EQ(compact(12'300'000), "12.3M");
}

TEST(NumberTextTest, ClockGrowsWithTheDuration) {
  EXPECT_EQ(clock_text(45.4), "00:45");
  EXPECT_EQ(clock_text(3723), "1:02:03");
  EXPECT_EQ(clock_text(2 * 86400 + 3 * 3600 + 4 * 60), "2d 03:04");
  EXPECT_EQ(clock_text(std::numeric_limits<double>::infinity()), "--:--");
}

TEST(NumberTextTest, BytesUseDecimalUnits) {
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(12'300'000), "12.3 MB");
  EXPECT_EQ(bytes_text(999'600), "1.0 MB");
}

}  // namespace
}  // namespace trainyard
