// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/environment_checks.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <string.h>

#include "core/plugin/loader.h"
#include "environments/host_name.h"
#include "environments/selection.h"
#include "environments/variable_reader.h"
#include "messages/error.h"

namespace trainyard::tools {
namespace {

using environments::Candidate;

SystemCheck fact(std::string name, std::string finding) {
  return {Verdict::kFact, std::move(name), std::move(finding), ""};
}

/// Returns a text such as "host 1 of 2". If there are several processes on the host, the text also contains their
/// number.
std::string place_text(const Allocation& allocation) {
  std::string text = fmt::format("host {} of {}", allocation.host, allocation.hosts);
  if (allocation.processes > 1) {
    text += fmt::format(", process {} of {} on this host", allocation.process, allocation.processes);
  }
  return text;
}

std::string ports_text(const std::vector<std::uint16_t>& ports) {
  if (ports.empty()) return "no port";
  if (ports.size() == 1) return fmt::format("port {}", ports.front());
  return fmt::format("ports {} to {}", ports.front(), ports.back());
}

std::string meeting_text(const Allocation& allocation) {
  if (allocation.meeting) return allocation.meeting->host + ", " + ports_text(allocation.meeting->ports);
  return allocation.hosts == 1 ? "none is needed" : "not known; set TRAINYARD_MEET_AT to HOST or HOST:PORT of host 0";
}

std::string job_text(const Allocation& allocation) {
  if (allocation.job.empty()) return "none";
  const std::string job = environments::shown(allocation.job, false);
  return allocation.restarts == 0 ? job : fmt::format("{}, restarts: {}", job, allocation.restarts);
}

std::string stop_text(const StopNotice& stop) {
  std::string text;
  for (const int signal : stop.signals) {
    const char* name = ::sigabbrev_np(signal);
    text += fmt::format("{}SIG{}", text.empty() ? "" : ", ", name != nullptr ? name : std::to_string(signal));
  }
  if (stop.grace) text += fmt::format("; killed {} s later by default", stop.grace->count());
  if (stop.end) {
    text +=
        fmt::format("; ends at {:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::chrono::system_clock::to_time_t(*stop.end)));
  }
  return text;
}

std::string requeue_text(const Allocation& allocation) {
  if (!allocation.requeue.empty()) {
    return environments::shown(fmt::format("{}", fmt::join(allocation.requeue, " ")), false);
  }
  return allocation.restarts_failures ? "the engine starts the job again if it fails" : "not possible";
}

void add_allocation(std::vector<SystemCheck>& checks, const Allocation& allocation) {
  const auto& names = allocation.names;
  checks.push_back(fact("host", fmt::format("{} of {}, counted from 0", allocation.host, allocation.hosts)));
  checks.push_back(fact("names", names.empty() ? "the engine does not tell them" : environments::short_list(names)));
  checks.push_back(
      fact("process", fmt::format("{} of {} on this host, counted from 0", allocation.process, allocation.processes)));
  checks.push_back(fact("devices", allocation.devices ? std::to_string(*allocation.devices)
                                                      : "the engine does not tell how many there are"));
  checks.push_back(fact("meeting place", meeting_text(allocation)));
  checks.push_back(fact("job", job_text(allocation)));
  checks.push_back(fact("signals to stop", stop_text(allocation.stop)));
  checks.push_back(fact("start again", requeue_text(allocation)));
}

/// The engines that seem to have started this process, and the information from the engine that was chosen.
struct Findings {
  std::vector<Candidate> candidates;
  const Candidate* chosen = nullptr;
  Allocation allocation;
  SystemCheck check;  ///< The first line of the report. The verdict is kBad if there is no usable information.
};

Findings find(core::PluginLoader& loader, const ProcessFacts& facts) {
  Findings findings;
  try {
    findings.candidates = environments::examine_environments(loader, facts);
    findings.chosen = &environments::nearest_environment(findings.candidates, facts);
    findings.allocation = environments::allocation_of(*findings.chosen, facts);
    findings.check = {Verdict::kGood, "environment",
                      fmt::format("{}, because {}", findings.chosen->name, findings.chosen->detection.reason), ""};
  } catch (const Error& error) {
    findings.check = {Verdict::kBad, "environment", error.what(), ""};
  }
  return findings;
}

void add_others(std::vector<SystemCheck>& checks, const Findings& findings) {
  for (const Candidate& candidate : findings.candidates) {
    if (&candidate == findings.chosen || candidate.name == "single_host") continue;
    const std::string_view found =
        candidate.detection.found ? " (but another engine has started this process within it)" : "";
    checks.push_back(fact("not " + candidate.name, candidate.detection.reason + std::string(found)));
  }
}

}  // namespace

SystemCheck check_environment(const ProcessFacts& facts) {
  core::PluginLoader loader(core::PluginLoader::default_directories());
  Findings findings = find(loader, facts);
  if (findings.check.verdict == Verdict::kGood && findings.allocation.hosts * findings.allocation.processes > 1) {
    findings.check.finding += "; " + place_text(findings.allocation);
  }
  return findings.check;
}

std::vector<SystemCheck> examine_environment(const ProcessFacts& facts) {
  core::PluginLoader loader(core::PluginLoader::default_directories());
  const Findings findings = find(loader, facts);
  std::vector<SystemCheck> checks{findings.check};
  if (findings.check.verdict == Verdict::kGood) add_allocation(checks, findings.allocation);
  add_others(checks, findings);
  const auto removed = environments::variables_to_remove(findings.candidates, facts.variables);
  checks.push_back(fact("not inherited", removed.empty() ? "no variable" : fmt::format("{}", fmt::join(removed, " "))));
  return checks;
}

}  // namespace trainyard::tools
