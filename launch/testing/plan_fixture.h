// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/testing/temporary_folder.h"
#include "launch/plan/planner.h"
#include "launch/testing/expect_error.h"
#include "launch/testing/fake_catalogue.h"

namespace trainyard::testing {}

namespace trainyard::launch::testing {

using namespace trainyard::testing;

/// A launch file with the six components of a training run, one per line, starting on line 2.
inline constexpr const char* kSixComponents = R"([component]
accelerator_host = { plugin = "accelerator_host", params = { model = "mlp" } }
checkpoint_writer = { plugin = "checkpoint_writer" }
data_loader = { plugin = "data_loader", params = { dataset = "synthetic" } }
logger = { plugin = "logger" }
optimizer = { plugin = "optimizer" }
strategy_manager = { plugin = "strategy_manager" }
)";

/// A fixture for tests that plan launch files whose text is in the test.
class PlanFixture : public ::testing::Test {
 protected:
  /// Plans a launch file "a.toml" with the content `text`.
  Plan plan(const std::string& text, const std::vector<std::string>& arguments = {}) {
    return make_plan(folder_.write("a.toml", text), arguments, catalogue_, machine_);
  }

  /// Plans a file that includes the six components on line 1. `text` follows, starting on line 2.
  Plan plan_six(const std::string& text = "", const std::vector<std::string>& arguments = {}) {
    folder_.write("six.toml", kSixComponents);
    return plan("include = ['six.toml']\n" + text, arguments);
  }

  /// Plans `text`, and returns the text of the error without the path of the temporary folder, such as "a.toml:3: ...".
  std::string error(const std::string& text, const std::vector<std::string>& arguments = {}) {
    return error_of([&] { plan(text, arguments); }, folder_.path());
  }

  /// The same as error(), for a file that includes the six components.
  std::string error_six(const std::string& text, const std::vector<std::string>& arguments = {}) {
    return error_of([&] { plan_six(text, arguments); }, folder_.path());
  }

  /// Returns the component with this name. Throws if there is none, so that a test fails with a message instead of a
  /// crash.
  static const ComponentPlan& component(const Plan& plan, const std::string& name) {
    const auto found = std::ranges::find(plan.components, name, &ComponentPlan::name);
    if (found == plan.components.end()) throw Error(Code::kNotFound, "no component {} in the plan", name);
    return *found;
  }

  /// Returns the process with this name. Throws if there is none.
  static const PlannedProcess& process(const Plan& plan, const std::string& name) {
    const auto found = std::ranges::find(plan.processes, name, &PlannedProcess::name);
    if (found == plan.processes.end()) throw Error(Code::kNotFound, "no process {} in the plan", name);
    return *found;
  }

  /// Returns a text "component.output topic transport" for each edge that leads to the input `input` of `component`.
  static std::vector<std::string> edges_into(const Plan& plan, const std::string& component, const std::string& input) {
    std::vector<std::string> out;
    for (const EdgePlan& edge : plan.edges) {
      if (plan.components[edge.to].name != component || edge.input != input) continue;
      out.push_back(plan.components[edge.from].name + "." + edge.output + " " + edge.topic + " " +
                    std::string(name_of(edge.transport)));
    }
    return out;
  }

  FakeCatalogue catalogue_ = standard_catalogue();
  Machine machine_{.memory_bytes = 16ull << 30};
  TemporaryFolder folder_;
};

}  // namespace trainyard::launch::testing
