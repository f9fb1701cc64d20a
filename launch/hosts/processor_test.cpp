// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/processor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::launch {
namespace {

TEST(ProcessorTest, IsDescribedByWhatDecidesWhichKernelsRun) {
  EXPECT_EQ(
      describe_processor("processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n"
                         "flags\t\t: fpu avx avx2 rdtscp fma avx512_bf16x\n\nprocessor\t: 1\nmodel name\t: other\n",
                         ""),
      "AMD EPYC (family 25, model 17) with avx avx2 fma");
  EXPECT_EQ(describe_processor("processor\t: 0\nFeatures\t: fp asimd sve\n", ""),
            "unknown (family -, model -) with asimd sve");
  EXPECT_EQ(describe_processor("", "avx2"), "unknown (family -, model -) with no vectors, ATEN_CPU_CAPABILITY=avx2");
}

TEST(ProcessorTest, ThisOneIsKnown) {
  EXPECT_THAT(describe_processor(), ::testing::Not(::testing::HasSubstr("family -")));
}

}  // namespace
}  // namespace trainyard::launch
