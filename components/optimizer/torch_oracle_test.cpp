// SPDX-License-Identifier: Apache-2.0
// Compares the optimizer with torch.optim and torch.optim.lr_scheduler, which the script torch_reference.py runs during
// the test.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "components/optimizer/rule.h"
#include "components/optimizer/schedule.h"
#include "components/optimizer/update_pass.h"
#include "messages/error.h"

namespace trainyard::optimizer {
namespace {

using nlohmann::json;

/// Runs the script and returns its results, or null if Python's torch is not installed.
json reference(const std::string& what) {
  const auto script = std::filesystem::path(TRAINYARD_OPTIMIZER_FOLDER) / "torch_reference.py";
  const auto output = std::filesystem::temp_directory_path() / fmt::format("torch_{}_{}.json", what, getpid());
  if (std::system("/usr/bin/python3 -c 'import torch' 2>/dev/null") != 0) return nullptr;
  const auto command = fmt::format("/usr/bin/python3 -W ignore '{}' {} '{}'", script.string(), what, output.string());
  if (std::system(command.c_str()) != 0) throw Error(Code::kIo, "failed: {}", command);
  json result = json::parse(std::ifstream(output));
  std::filesystem::remove(output);
  return result;
}

Rule rule_from(const json& test) {
  const json& options = test["options"];
  Rule rule{.kind = from_name<RuleKind>(test["rule"].get<std::string>())};
  rule.momentum = options.value("momentum", 0.0);
  rule.dampening = options.value("dampening", 0.0);
  rule.nesterov = options.value("nesterov", false);
  const auto betas = options.value("betas", std::vector<double>{0.9, 0.999});
  rule.beta1 = betas[0];
  rule.beta2 = betas[1];
  rule.amsgrad = options.value("amsgrad", false);
  rule.alpha = options.value("alpha", 0.99);
  rule.centered = options.value("centered", false);
  rule.lr_decay = options.value("lr_decay", 0.0);
  rule.initial_accumulator_value = options.value("initial_accumulator_value", 0.0);
  rule.eps = options.value("eps", default_eps(rule.kind));
  rule.maximize = options.value("maximize", false);
  return rule;
}

template <class T>
Tensor tensor_of(const std::vector<T>& values) {
  Tensor tensor =
      Tensor::empty(sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64, {static_cast<std::int64_t>(values.size())});
  std::ranges::copy(values, tensor.as<T>().begin());
  return tensor;
}

/// Returns the largest difference from torch over all steps. The parameters are about 1, so it is roughly a relative
/// error.
template <class T>
double largest_difference(const json& test, const KernelSet& kernels) {
  const Rule rule = rule_from(test);
  const Formula formula = formula_of(rule);
  const Tensor parameters = tensor_of<T>(test["start"].get<std::vector<T>>());
  const auto size = static_cast<std::size_t>(parameters.elements());
  const Tensor gradients = tensor_of<T>(std::vector<T>(size));
  std::vector<Tensor> state;
  for (const auto& name : state_names(formula)) {
    state.push_back(tensor_of<T>(std::vector<T>(size, name == "sum" ? T(rule.initial_accumulator_value) : T(0))));
  }
  const double decay = test["options"].value("weight_decay", default_weight_decay(rule.kind));
  UpdatePass pass = host_pass(rule, formula, {{0, size, 1, decay}}, parameters, gradients, state, kernels);
  StepInputs inputs{.lr = test["options"].value("lr", default_lr(rule.kind)), .gradient_scale = 0.5};
  double largest = 0;
  for (inputs.step = 1; inputs.step <= test["gradients"].size(); ++inputs.step) {
    const auto given = test["gradients"][inputs.step - 1].get<std::vector<T>>();
    // The gradient scale of 0.5 undoes this exactly.
    for (std::size_t i = 0; i < size; ++i) gradients.as<T>()[i] = given[i] * 2;
    pass.run(inputs);
    const auto wanted = test["parameters"][inputs.step - 1].get<std::vector<double>>();
    for (std::size_t i = 0; i < size; ++i) {
      const double difference = std::abs(parameters.as<T>()[i] - wanted[i]) / std::max(1.0, std::abs(wanted[i]));
      largest = std::max(largest, difference);
    }
  }
  return largest;
}

bool fuses_multiply_add() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("fma") != 0;
#else
  return true;
#endif
}

TEST(TorchOracleTest, EveryRuleAndOptionFollowsTorchOptimOverSixtySteps) {
  const json tests = reference("rules");
  if (tests.is_null()) GTEST_SKIP() << "needs /usr/bin/python3 with torch (Debian: python3-torch)";
  for (const json& test : tests) {
    SCOPED_TRACE(test["rule"].dump() + test["options"].dump() + test["dtype"].dump());
    ASSERT_GE(test["gradients"].size(), 50u);
    if (test["dtype"] == "float32") {
      EXPECT_LT(largest_difference<float>(test, best_kernels()), 1e-6);
      EXPECT_LT(largest_difference<float>(test, *generic_kernels()), 1e-6);
    } else {
      // torch.optim of torch 1.x uses the same operations, fused if the processor can, so the results are
      // bit-identical. Later versions use other operations, such as lerp.
      const bool same_operations = test["torch"].get<std::string>().starts_with("1.") && fuses_multiply_add();
      EXPECT_LE(largest_difference<double>(test, best_kernels()), same_operations ? 0 : 1e-13);
    }
  }
}

ScheduleSettings settings_from(const json& given) {
  ScheduleSettings settings{.kind = from_name<ScheduleKind>(given["kind"].get<std::string>())};
  settings.min_lr = given.value("min_lr", settings.min_lr);
  settings.step_size = given.value("step_size", settings.step_size);
  settings.gamma = given.value("gamma", settings.gamma);
  settings.pct_start = given.value("pct_start", settings.pct_start);
  settings.div_factor = given.value("div_factor", settings.div_factor);
  settings.final_div_factor = given.value("final_div_factor", settings.final_div_factor);
  settings.cycle_momentum = given.value("cycle_momentum", settings.cycle_momentum);
  settings.base_momentum = given.value("base_momentum", settings.base_momentum);
  settings.max_momentum = given.value("max_momentum", settings.max_momentum);
  return settings;
}

TEST(TorchOracleTest, EveryScheduleFollowsTorchFromTheFirstStepToTheLast) {
  const json tests = reference("schedules");
  if (tests.is_null()) GTEST_SKIP() << "needs /usr/bin/python3 with torch (Debian: python3-torch)";
  for (const json& test : tests) {
    const ScheduleSettings settings = settings_from(test["settings"]);
    const auto rates = test["rates"].get<std::vector<double>>();
    const auto momenta = test["momenta"].get<std::vector<double>>();
    for (std::size_t i = 0; i < rates.size(); ++i) {
      SCOPED_TRACE(fmt::format("{} at update {}", test["settings"].dump(), i));
      // torch computes learning rates recursively, so its rounding errors add up.
      EXPECT_NEAR(learning_rate(settings, test["lr"], i, rates.size()), rates[i], 1e-12);
      EXPECT_NEAR(momentum(settings, i, rates.size()).value_or(momenta[i]), momenta[i], 1e-12);
    }
  }
}

}  // namespace
}  // namespace trainyard::optimizer
