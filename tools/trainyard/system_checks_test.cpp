// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/system_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace trainyard::tools {
namespace {

using ::testing::HasSubstr;

TEST(SystemChecksTest, WarnsOfReferenceBlas) {
  const SystemCheck slow = judge_blas("/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0");
  EXPECT_EQ(slow.verdict, Verdict::kWarning);
  EXPECT_THAT(slow.finding, HasSubstr("reference BLAS"));
  EXPECT_THAT(slow.advice, HasSubstr("libopenblas0-pthread"));
  EXPECT_EQ(judge_blas("/usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3").verdict, Verdict::kGood);
}

TEST(SystemChecksTest, AdvisesOnlyWhatTheHardLimitAllows) {
  EXPECT_EQ(judge_open_files(256, 512).advice, "ulimit -n 512");
  EXPECT_EQ(judge_open_files(256, 4096).advice, "ulimit -n 1024");
  EXPECT_EQ(judge_open_files(1024, 4096).verdict, Verdict::kGood);
}

TEST(SystemChecksTest, WarnsOfTheSmallMemoryOfContainers) {
  constexpr std::uint64_t kMiB = 1 << 20;
  EXPECT_EQ(judge_shared_memory(64 * kMiB, 64 * kMiB).verdict, Verdict::kWarning);
  EXPECT_EQ(judge_shared_memory(64 * kMiB, 64 * kMiB).finding, "64 MiB, 64 MiB free");
  EXPECT_EQ(judge_shared_memory(1024 * kMiB, 900 * kMiB).verdict, Verdict::kGood);
}

TEST(SystemChecksTest, WarnsOfCoresThatOthersUse) {
  EXPECT_EQ(judge_threads(4, 1.0, "active").verdict, Verdict::kGood);
  EXPECT_EQ(judge_threads(4, 3.5, "").verdict, Verdict::kWarning);
  EXPECT_EQ(judge_threads(4, 3.5, "").finding,
            "4 cores, 3.5 busy during the last minute: a kernel waits for the slowest of its threads");
  EXPECT_EQ(judge_threads(4, 3.5, "ACTIVE").advice, "unset OMP_WAIT_POLICY");
}

TEST(SystemChecksTest, LooksAtEverythingThatWasAskedFor) {
  std::vector<std::string> names;
  for (const SystemCheck& check : check_system()) names.push_back(check.name);
  for (const char* name :
       {"Trainyard", "LibTorch", "libzmq", "compiler", "BLAS", "shared memory", "memfd", "open files", "threads"}) {
    EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
  }
}

}  // namespace
}  // namespace trainyard::tools
