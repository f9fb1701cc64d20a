// SPDX-License-Identifier: Apache-2.0
#include "environments/selection.h"

#include <algorithm>

#include "core/plugin/loader.h"
#include "environments/host_list.h"
#include "environments/job_ports.h"
#include "environments/meeting_address.h"
#include "environments/variable_reader.h"

namespace trainyard::environments {
namespace {

constexpr std::string_view kMeetAt = "TRAINYARD_MEET_AT";
constexpr std::string_view kHostNames = "TRAINYARD_HOST_NAMES";

Candidate make_candidate(core::PluginLoader& loader, const PluginSpec& spec, const ProcessFacts& facts) {
  EnvironmentContext context;
  context.where = "environment '" + spec.plugin + "'";
  context.parameters = spec.parameters;
  context.plugins = &loader;
  Candidate candidate{spec.plugin, loader.create<Environment>(spec.plugin, context), {}};
  candidate.environment->check_all_given_are_known();
  candidate.environment->check_parameters();
  candidate.detection = candidate.environment->detect(facts);
  return candidate;
}

/// Returns true if `name` matches `pattern`, which is a name, or the beginning of names followed by '*'.
bool fits(std::string_view pattern, std::string_view name) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
}

bool fits_any(const std::vector<std::string>& patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [name](const std::string& pattern) { return fits(pattern, name); });
}

void complete(Allocation& allocation, const VariableReader& variables) {
  if (variables.has(kHostNames)) {
    allocation.names = expand_host_list(variables.text(kHostNames), variables.where());
  }
  if (variables.has(kMeetAt)) {
    allocation.meeting = parse_meeting_address(variables.text(kMeetAt), variables.where(), kMeetAt);
  }
  if (!allocation.meeting && allocation.hosts > 1 && !allocation.names.empty()) {
    allocation.meeting = MeetingPlace{allocation.names.front(), {}};
  }
  if (!allocation.meeting && allocation.hosts == 1 && allocation.processes > 1) {
    allocation.meeting = MeetingPlace{"127.0.0.1", {}};
  }
  if (allocation.meeting && allocation.meeting->ports.empty()) {
    allocation.meeting->ports = ports_of_job(allocation.job);
  }
}

}  // namespace

std::vector<Candidate> examine_environments(core::PluginLoader& loader, const ProcessFacts& facts) {
  std::vector<Candidate> candidates;
  for (const core::PluginLoader::Found& found : loader.list()) {
    if (found.label.kind != Environment::kKind) continue;
    candidates.push_back(make_candidate(loader, {.plugin = found.label.name}, facts));
  }
  std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
    return a.environment->precedence() > b.environment->precedence();
  });
  return candidates;
}

const Candidate& nearest_environment(std::span<const Candidate> candidates, const ProcessFacts& facts) {
  for (const std::string& ancestor : facts.ancestors) {
    for (const Candidate& candidate : candidates) {
      if (candidate.detection.found && fits_any(candidate.environment->starters(), ancestor)) return candidate;
    }
  }
  const auto first = std::ranges::find_if(candidates, [](const Candidate& one) { return one.detection.found; });
  if (first != candidates.end()) return *first;
  throw Error(Code::kNotFound,
              "none of the {} environments fits this process; the plugin single_host, which always fits, is missing",
              candidates.size());
}

Candidate named_environment(core::PluginLoader& loader, const PluginSpec& spec, const ProcessFacts& facts) {
  return make_candidate(loader, spec, facts);
}

Allocation allocation_of(const Candidate& candidate, const ProcessFacts& facts) {
  const VariableReader variables(facts, candidate.environment->where());
  Allocation allocation = candidate.environment->allocation(facts);
  complete(allocation, variables);
  check_allocation(allocation, variables.where());
  return allocation;
}

std::vector<std::string> variables_to_remove(std::span<const Candidate> candidates,
                                             const ProcessFacts::Variables& variables) {
  std::vector<std::string> patterns, removed;
  for (const Candidate& candidate : candidates) {
    std::ranges::copy(candidate.environment->process_variables(), std::back_inserter(patterns));
  }
  for (const auto& [name, value] : variables) {
    if (fits_any(patterns, name)) removed.push_back(name);
  }
  return removed;
}

}  // namespace trainyard::environments
