// SPDX-License-Identifier: Apache-2.0
#include "environments/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "environments/job_ports.h"
#include "environments/testing/facts.h"

namespace trainyard::environments {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using testing::facts_with;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;

/// An environment that returns the values that the test has set.
class Fake final : public Environment {
 public:
  Fake(EnvironmentContext& context, int precedence, std::string starter, Allocation allocation)
      : Environment(context), precedence_(precedence), starter_(std::move(starter)), allocation_(allocation) {}

  int precedence() const override { return precedence_; }
  std::vector<std::string> starters() const override { return {starter_}; }
  Detection detect(const ProcessFacts&) const override { return {true, "it is a test"}; }
  Allocation allocation(const ProcessFacts&) const override { return allocation_; }
  std::vector<std::string> process_variables() const override { return {"FAKE_RANK", "FAKE_STEP_*"}; }

 private:
  int precedence_;
  std::string starter_;
  Allocation allocation_;
};

Candidate candidate(const std::string& name, int precedence, const std::string& starter, bool found = true,
                    Allocation allocation = {}) {
  EnvironmentContext context;
  context.where = "engine";
  context.parameters = "{}";
  return {name, std::make_unique<Fake>(context, precedence, starter, std::move(allocation)), {found, "it is a test"}};
}

std::string nearest(const std::vector<Candidate>& candidates, std::vector<std::string> ancestors) {
  ProcessFacts facts;
  facts.ancestors = std::move(ancestors);
  return nearest_environment(candidates, facts).name;
}

std::vector<Candidate> mpi_within_slurm() {
  std::vector<Candidate> all;
  all.push_back(candidate("open_mpi", 60, "orted"));
  all.push_back(candidate("slurm", 40, "slurmstepd*"));
  all.push_back(candidate("single_host", 0, ""));
  return all;
}

TEST(SelectionTest, TheNearestStarterTellsWhichOfSeveralEnginesItIs) {
  EXPECT_EQ(nearest(mpi_within_slurm(), {"bash", "orted", "slurmstepd-wlm"}), "open_mpi");
  EXPECT_EQ(nearest(mpi_within_slurm(), {"bash", "slurmstepd-wlm", "systemd"}), "slurm")
      << "mpirun's variables were inherited: srun was called in a shell within mpirun";
}

TEST(SelectionTest, WithoutAStarterThePrecedenceDecides) {
  EXPECT_EQ(nearest(mpi_within_slurm(), {"bash", "containerd-shim"}), "open_mpi");
  EXPECT_EQ(nearest(mpi_within_slurm(), {}), "open_mpi");
}

TEST(SelectionTest, AStarterWithoutTheVariablesOfItsEngineDoesNotCount) {
  std::vector<Candidate> all;
  all.push_back(candidate("torchrun", 70, "python*", false));
  all.push_back(candidate("slurm", 40, "slurmstepd*"));
  EXPECT_EQ(nearest(all, {"python3", "slurmstepd"}), "slurm");
  all.clear();
  all.push_back(candidate("torchrun", 70, "python*", false));
  EXPECT_THAT(error_of([&] { nearest(all, {}); }).second, HasSubstr("the plugin single_host, which always fits"));
}

Allocation completed(Allocation given, const ProcessFacts::Variables& variables) {
  return allocation_of(candidate("fake", 1, "", true, std::move(given)), facts_with(variables));
}

TEST(SelectionTest, HostsMeetAtTheFirstHostUnlessAVariableSaysOtherwise) {
  const Allocation given{.host = 1, .hosts = 2, .names = {"a", "b"}, .job = "12"};
  EXPECT_EQ(completed(given, {}).meeting->host, "a");
  EXPECT_EQ(completed(given, {}).meeting->ports, ports_of_job("12"));
  EXPECT_EQ(completed(given, {{"TRAINYARD_MEET_AT", "c:99"}}).meeting->host, "c");
  EXPECT_THAT(completed(given, {{"TRAINYARD_MEET_AT", "c:99"}}).meeting->ports, ElementsAre(99));
  EXPECT_FALSE(completed({}, {}).meeting) << "one host meets nobody";
}

TEST(SelectionTest, NamesThatTheEngineDoesNotTellComeFromAVariable) {
  const Allocation given{.host = 1, .hosts = 2};
  EXPECT_FALSE(completed(given, {}).meeting);
  const Allocation told = completed(given, {{"TRAINYARD_HOST_NAMES", "n[0-1]"}});
  EXPECT_THAT(told.names, ElementsAre("n0", "n1"));
  EXPECT_EQ(told.meeting->host, "n0");
}

TEST(SelectionTest, AnAllocationThatContradictsItselfIsRefused) {
  const auto error = [](Allocation given) { return error_of([&] { completed(std::move(given), {}); }).second; };
  EXPECT_EQ(error({.host = 2, .hosts = 2}), "engine: this is host 2 of 2; allowed: numbers from 0 to 1");
  EXPECT_EQ(error({.process = 1}), "engine: this is process 1 of 1; allowed: numbers from 0 to 0");
  EXPECT_EQ(error({.hosts = 70000}), "engine: 70000 hosts; at most 65536 are allowed");
  EXPECT_EQ(error({.hosts = 2, .names = {"a"}}), "engine: there are 2 hosts, but 1 names of hosts");
  EXPECT_THAT(error({.names = {"a b"}}), HasSubstr("'a b' cannot be the name of a host"));
}

TEST(SelectionTest, OnlyTheVariablesThatFitAPatternAreRemoved) {
  const std::vector<Candidate> all = [] {
    std::vector<Candidate> one;
    one.push_back(candidate("fake", 1, ""));
    return one;
  }();
  EXPECT_THAT(variables_to_remove(all, {{"FAKE_RANK", ""}, {"FAKE_RANKS", ""}, {"FAKE_STEP_ID", ""}, {"PATH", ""}}),
              ElementsAre("FAKE_RANK", "FAKE_STEP_ID"));
}

TEST(SelectionTest, ThePortsOfAJobAreInTheRangeThatNobodyElseUses) {
  for (int job = 0; job < 1000; ++job) {
    const std::vector<std::uint16_t> ports = ports_of_job(std::to_string(job));
    ASSERT_EQ(ports.size(), 16u);
    EXPECT_THAT(ports.front(), Ge(20000));
    EXPECT_THAT(ports.back(), Le(29999));
  }
  EXPECT_EQ(ports_from(65534).size(), 2u);
  EXPECT_THAT(ports_from(65536), IsEmpty());
}

}  // namespace
}  // namespace trainyard::environments
