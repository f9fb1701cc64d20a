// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "archive/run_summary.h"
#include "messages/printable.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/json_output.h"
#include "tools/trainyard/runs.h"
#include "tools/trainyard/table.h"

namespace trainyard::tools {
namespace {

using archive::MetricPoint;
using archive::RunSummary;
using nlohmann::ordered_json;

ordered_json point_json(const std::optional<MetricPoint>& point) {
  if (!point) return nullptr;
  return {{"value", json_number(point->value)}, {"step", point->step}};
}

ordered_json summary_json(const RunSummary& summary) {
  const archive::LaunchRecord* launch = summary.run.last();
  return {{"name", summary.run.name},
          {"directory", summary.run.directory},
          {"state", name_of(summary.state)},
          {"reason", launch == nullptr ? "" : launch->reason},
          {"launches", summary.run.launches.size()},
          {"started_ns", summary.started_ns},
          {"duration_ns", summary.duration_ns},
          {"step", summary.step ? ordered_json(*summary.step) : ordered_json()},
          {"loss", point_json(summary.last_loss)},
          {"best_validation_loss", point_json(summary.best_validation)},
          {"problem", summary.problem}};
}

std::string point_text(const std::optional<MetricPoint>& point) { return point ? value_text(point->value) : "-"; }

void add_row(const RunSummary& summary, Table& table) {
  const bool goes_on = summary.state == archive::LaunchState::kRunning;
  // A run without a launch record has no state, which differs from a state that cannot be determined.
  const std::string state = summary.run.last() == nullptr ? "-" : std::string(name_of(summary.state));
  // The seconds are left out to save room.
  const std::string started = time_text(summary.started_ns).substr(0, sizeof "2026-05-31 12:00" - 1);
  table.add({(goes_on ? "* " : "  ") + summary.run.name, state, started, duration_text(summary.duration_ns),
             summary.step ? std::to_string(*summary.step) : "-", point_text(summary.last_loss),
             point_text(summary.best_validation)});
}

}  // namespace

// If a run cannot be read, prints a warning to stderr and lists the other runs.
int list_runs(const RunsArguments& arguments) {
  Table table({"  name", "state", "started", "time", "step", "loss", "best val"});
  ordered_json all = ordered_json::array();
  for (archive::RunRecord& run : find_past_runs(arguments.folders)) {
    const RunSummary summary = archive::summarise(std::move(run), now_ns());
    for (const std::string& sentence : summary.run.unreadable) {
      std::fprintf(stderr, "warning: %s\n", printable_line(sentence).c_str());
    }
    if (!summary.problem.empty()) std::fprintf(stderr, "warning: %s\n", printable_line(summary.problem).c_str());
    if (arguments.as_json) {
      all.push_back(summary_json(summary));
    } else {
      add_row(summary, table);
    }
  }
  if (arguments.as_json) {
    print_json(all);
  } else if (table.empty()) {
    std::fprintf(stderr, "no run has written to %s\n", printable_line(arguments.folders.front()).c_str());
  } else {
    std::fputs(table.text(use_colours()).c_str(), stdout);
  }
  return kExitOk;
}

}  // namespace trainyard::tools
