// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "core/testing/error_of.h"
#include "environments/environment.h"
#include "environments/selection.h"

namespace trainyard::testing {

/// Returns the facts of a process with these environment variables, on a host with this name.
inline ProcessFacts facts_with(ProcessFacts::Variables variables, std::string host_name = "here") {
  ProcessFacts facts;
  facts.variables = std::move(variables);
  facts.host_name = std::move(host_name);
  return facts;
}

/// Returns the facts with some variables replaced, or removed if the new value is empty.
inline ProcessFacts changed(ProcessFacts facts, const ProcessFacts::Variables& changes) {
  for (const auto& [name, value] : changes) {
    if (value.empty()) {
      facts.variables.erase(name);
    } else {
      facts.variables[name] = value;
    }
  }
  return facts;
}

/// Creates an environment of the class `Kind` for a test. `parameters` is a JSON object. Error messages call the
/// environment "engine".
template <class Kind>
class UnderTest {
 public:
  explicit UnderTest(std::string parameters = "{}") {
    EnvironmentContext context;
    context.where = "engine";
    context.parameters = std::move(parameters);
    candidate_.name = "engine";
    candidate_.environment = std::make_unique<Kind>(context);
  }

  Detection detect(const ProcessFacts& facts) const { return candidate_.environment->detect(facts); }
  /// Returns the allocation of the environment, checked and completed by allocation_of().
  Allocation allocation(const ProcessFacts& facts) const { return environments::allocation_of(candidate_, facts); }
  /// Returns the text of the error that allocation() throws.
  std::string error(const ProcessFacts& facts) const {
    return error_of([&] { allocation(facts); }).second;
  }
  const Environment& environment() const { return *candidate_.environment; }

 private:
  environments::Candidate candidate_;
};

}  // namespace trainyard::testing
