// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/plugin/loader.h"
#include "core/testing/plugins.h"
#include "environments/testing/facts.h"

// Tests the rules that every environment must obey. An environment that is added later is tested automatically.

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Returns all variables that the environments of this project read or remove, each set to `value`.
ProcessFacts::Variables all_set_to(const std::string& value) {
  ProcessFacts::Variables variables;
  for (const char* name : {"SLURM_JOB_ID",
                           "SLURMD_NODENAME",
                           "SLURM_STEP_NODELIST",
                           "SLURM_STEP_NUM_NODES",
                           "SLURM_NODEID",
                           "SLURM_LOCALID",
                           "SLURM_STEP_RESV_PORTS",
                           "SLURM_STEP_TASKS_PER_NODE",
                           "SLURM_STEP_ID",
                           "SLURM_GPUS_ON_NODE",
                           "SLURM_RESTART_COUNT",
                           "OMPI_COMM_WORLD_RANK",
                           "OMPI_COMM_WORLD_SIZE",
                           "OMPI_MCA_orte_hnp_uri",
                           "RANK",
                           "LOCAL_RANK",
                           "WORLD_SIZE",
                           "LOCAL_WORLD_SIZE",
                           "GROUP_RANK",
                           "MASTER_ADDR",
                           "MASTER_PORT",
                           "PET_NODE_RANK",
                           "PET_NNODES",
                           "KUBERNETES_SERVICE_HOST",
                           "JOB_COMPLETION_INDEX",
                           "LSB_JOBID",
                           "LSB_MCPU_HOSTS",
                           "JSM_NAMESPACE_LOCAL_SIZE",
                           "FLUX_TASK_RANK",
                           "FLUX_JOB_SIZE",
                           "FLUX_JOB_NNODES",
                           "FLUX_JOB_ID",
                           "TRAINYARD_HOST_COUNT",
                           "TRAINYARD_HOST_NAMES",
                           "TRAINYARD_HOST_NUMBER",
                           "TRAINYARD_MEET_AT"}) {
    variables[name] = value;
  }
  return variables;
}

class EnvironmentContractTest : public ::testing::TestWithParam<std::string> {
 protected:
  environments::Candidate make(const ProcessFacts& facts) {
    return environments::named_environment(plugins_, {.plugin = GetParam()}, facts);
  }

  core::PluginLoader plugins_{core::PluginLoader::default_directories()};
};

TEST_P(EnvironmentContractTest, SaysWhyItIsOrIsNotDetected) {
  for (const ProcessFacts& facts : {ProcessFacts(), testing::facts_with(all_set_to("1"))}) {
    const Detection detection = make(facts).detection;
    EXPECT_THAT(detection.reason, Not(IsEmpty()));
    EXPECT_FALSE(detection.reason.ends_with('.')) << "a part of a sentence: " << detection.reason;
    if (facts.variables.empty()) {
      EXPECT_EQ(detection.found, GetParam() == "single_host") << detection.reason;
    }
  }
}

TEST_P(EnvironmentContractTest, HostileVariablesGiveAnErrorThatNamesTheEnvironmentAndNothingElse) {
  for (const std::string& value :
       {std::string("\033[31mred\n"), std::string(100'000, '9'), std::string("-1"), std::string("n[0-999999999]"),
        std::string("99999999999999999999"), std::string("x.99999999999;tcp://:"), std::string("1(x4294967295)"),
        std::string("0"), std::string("1"), std::string("65536"), std::string(",;:[]()")}) {
    const ProcessFacts facts = testing::facts_with(all_set_to(value), value);
    environments::Candidate candidate = make(facts);
    EXPECT_LT(candidate.detection.reason.size(), 400u);
    EXPECT_THAT(candidate.detection.reason, Not(HasSubstr("\033")));
    const auto [code, text] = testing::error_of([&] { environments::allocation_of(candidate, facts); });
    if (text.empty()) continue;
    EXPECT_TRUE(code == Code::kInvalidArgument || code == Code::kNotFound || code == Code::kIo) << text;
    EXPECT_THAT(text, HasSubstr("environment '" + GetParam() + "': "));
    EXPECT_THAT(text, Not(HasSubstr("\033")));
    EXPECT_LT(text.size(), 1000u) << text;
  }
}

TEST_P(EnvironmentContractTest, RemovesNoVariableThatEveryProgramNeeds) {
  std::vector<environments::Candidate> candidates;
  candidates.push_back(make({}));
  const ProcessFacts::Variables needed{{"PATH", "x"},
                                       {"HOME", "x"},
                                       {"LD_LIBRARY_PATH", "x"},
                                       {"LANG", "x"},
                                       {"XDG_RUNTIME_DIR", "x"},
                                       {"OMP_NUM_THREADS", "x"},
                                       {"OMPI_MCA_btl", "tcp"},
                                       {"SLURM_JOB_ID", "12"},
                                       {"CUDA_VISIBLE_DEVICES", "0"},
                                       {"TRAINYARD_PLUGIN_PATH", "x"}};
  EXPECT_THAT(environments::variables_to_remove(candidates, needed), IsEmpty());
}

TEST_P(EnvironmentContractTest, HasAPrecedenceOfItsOwn) {
  const int own = make({}).environment->precedence();
  EXPECT_GE(own, 0);
  EXPECT_LE(own, 100);
  for (const environments::Candidate& other : environments::examine_environments(plugins_, {})) {
    if (other.name != GetParam()) {
      EXPECT_NE(other.environment->precedence(), own) << other.name;
    }
  }
}

TEST_P(EnvironmentContractTest, IsDescribedWithoutParameters) {
  const PluginEntry& entry = plugins_.load(plugins_.find(Environment::kKind, GetParam()));
  const std::unique_ptr<Configurable> described(core::PluginLoader::describe(entry, "the contract test"));
  EXPECT_TRUE(described->describing());
}

INSTANTIATE_TEST_SUITE_P(EveryEnvironment, EnvironmentContractTest,
                         ::testing::ValuesIn(testing::plugins_of_kind(Environment::kKind)),
                         [](const auto& info) { return testing::camel_case(info.param); });

}  // namespace
}  // namespace trainyard
