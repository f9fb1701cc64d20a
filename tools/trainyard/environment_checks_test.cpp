// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/environment_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::tools {
namespace {

using ::testing::HasSubstr;

ProcessFacts facts_with(ProcessFacts::Variables variables) {
  ProcessFacts facts;
  facts.variables = std::move(variables);
  facts.host_name = "here";
  return facts;
}

/// Returns the finding of the check with this name, or an empty text if there is none.
std::string finding(const std::vector<SystemCheck>& checks, std::string_view name) {
  for (const SystemCheck& check : checks) {
    if (check.name == name) return check.finding;
  }
  return "";
}

TEST(EnvironmentChecksTest, WithoutAnEngineTheRunIsOnThisHost) {
  const SystemCheck check = check_environment(facts_with({}));
  EXPECT_EQ(check.verdict, Verdict::kGood);
  EXPECT_EQ(check.finding, "single_host, because no engine that Trainyard knows has started this process");
  const auto checks = examine_environment(facts_with({}));
  EXPECT_EQ(finding(checks, "host"), "0 of 1, counted from 0");
  EXPECT_EQ(finding(checks, "names"), "here");
  EXPECT_EQ(finding(checks, "meeting place"), "none is needed");
  EXPECT_EQ(finding(checks, "not slurm"), "SLURM_JOB_ID is not set");
  EXPECT_EQ(finding(checks, "not inherited"), "no variable");
}

TEST(EnvironmentChecksTest, AnEngineIsShownWithAllThatItSays) {
  const ProcessFacts facts = facts_with({{"RANK", "1"},
                                         {"LOCAL_RANK", "0"},
                                         {"WORLD_SIZE", "2"},
                                         {"LOCAL_WORLD_SIZE", "1"},
                                         {"GROUP_RANK", "1"},
                                         {"GROUP_WORLD_SIZE", "2"},
                                         {"MASTER_ADDR", "a"},
                                         {"MASTER_PORT", "29500"},
                                         {"TORCHELASTIC_RUN_ID", "run\033[31m7"},
                                         {"SLURM_JOB_ID", "12"}});
  EXPECT_EQ(check_environment(facts).finding, "torchrun, because RANK is 1 and LOCAL_RANK is 0; host 1 of 2");
  const auto checks = examine_environment(facts);
  EXPECT_EQ(finding(checks, "host"), "1 of 2, counted from 0");
  EXPECT_EQ(finding(checks, "meeting place"), "a, port 29500");
  EXPECT_EQ(finding(checks, "job"), "run?[31m7");
  EXPECT_EQ(finding(checks, "signals to stop"), "SIGTERM; killed 30 s later by default");
  EXPECT_EQ(finding(checks, "not slurm"), "SLURM_JOB_ID is 12 (but another engine has started this process within it)");
  EXPECT_THAT(finding(checks, "not inherited"), HasSubstr("LOCAL_RANK"));
}

TEST(EnvironmentChecksTest, WhatAnEngineSaysWronglyIsABadFinding) {
  const ProcessFacts facts = facts_with({{"SLURM_JOB_ID", "12"}});
  EXPECT_EQ(check_environment(facts).verdict, Verdict::kBad);
  const auto checks = examine_environment(facts);
  EXPECT_EQ(checks.front().verdict, Verdict::kBad);
  EXPECT_THAT(checks.front().finding,
              HasSubstr("environment 'slurm': this process is in the shell of salloc of job 12"));
  EXPECT_EQ(finding(checks, "host"), "");
}

}  // namespace
}  // namespace trainyard::tools
