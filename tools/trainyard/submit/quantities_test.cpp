// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/submit/quantities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messages/error.h"

namespace trainyard::tools::submit {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

template <class Function>
std::string refusal(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(SubmitQuantitiesTest, ReadsTimesWithUnitsAndWithColons) {
  EXPECT_EQ(parse_time("2h30m", "--time"), seconds(9000));
  EXPECT_EQ(parse_time("90m", "--time"), seconds(5400));
  EXPECT_EQ(parse_time("45s", "--time"), seconds(45));
  EXPECT_EQ(parse_time("1d12h", "--time"), seconds(129600));
  EXPECT_EQ(parse_time("02:30:00", "--time"), seconds(9000));
  EXPECT_EQ(parse_time("1-00:00:00", "--time"), seconds(86400));
  EXPECT_EQ(parse_time("365d", "--time"), seconds(31536000));
}

TEST(SubmitQuantitiesTest, RefusesTimesThatEnginesWouldUnderstandDifferentlyOrNotAtAll) {
  for (const char* wrong : {"",
                            "90",
                            "2:30",
                            "0s",
                            "00:00:00",
                            "30m2h",
                            "2h2h",
                            "h",
                            "2 h",
                            "-1h",
                            "1h-",
                            "1x",
                            "1:60:00",
                            "1:00:60",
                            "1-1-1:00:00",
                            "366d",
                            "99999999999999999999h",
                            "4294967296s",
                            "1h\n",
                            "2.5h",
                            "UNLIMITED",
                            "1-",
                            "::",
                            "+1h",
                            " 1h"}) {
    EXPECT_THAT(refusal([&] { parse_time(wrong, "--time"); }), HasSubstr("--time is '")) << wrong;
  }
  EXPECT_EQ(refusal([] { parse_time("90", "--notice"); }),
            "--notice is '90'; allowed: a time of at most a year, such as 2h30m, 90m, 02:30:00 or 1-00:00:00");
}

TEST(SubmitQuantitiesTest, ReadsMemoryInUnitsOf1024) {
  EXPECT_EQ(parse_memory("512M", "--memory"), 512u);
  EXPECT_EQ(parse_memory("64G", "--memory"), 65536u);
  EXPECT_EQ(parse_memory("1024T", "--memory"), std::uint64_t{1} << 30);
  for (const char* wrong : {"", "64", "64g", "64GB", "64 G", "0G", "-1G", "1.5T", "1025T", "4294967295T", "G", "1K"}) {
    EXPECT_THAT(refusal([&] { parse_memory(wrong, "--memory"); }), HasSubstr("--memory is '")) << wrong;
  }
}

TEST(SubmitQuantitiesTest, WritesTimesAsSlurmDoes) {
  for (const char* time : {"00:00:45", "02:30:00", "23:59:59", "1-00:00:00", "364-23:00:01"}) {
    EXPECT_EQ(slurm_time(parse_time(time, "--time")), time);
  }
}

}  // namespace
}  // namespace trainyard::tools::submit
