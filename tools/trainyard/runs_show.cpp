// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "archive/metrics_reader.h"
#include "archive/run_summary.h"
#include "messages/error.h"
#include "messages/printable.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/json_output.h"
#include "tools/trainyard/run_metrics.h"
#include "tools/trainyard/runs.h"
#include "tools/trainyard/table.h"

namespace trainyard::tools {
namespace {

using archive::LaunchRecord;
using archive::RunSummary;
using nlohmann::ordered_json;

using Parameters = std::map<std::string, nlohmann::json>;

void fact(const char* name, const std::string& text) { fmt::print("{:<10}{}\n", name, printable_line(text)); }

std::string state_text(const LaunchRecord& launch) {
  return std::string(name_of(archive::state_now(launch))) + (launch.reason.empty() ? "" : ": " + launch.reason);
}

std::string git_text(const archive::GitState& git) {
  return fmt::format("{}{}{}", git.commit.empty() ? "no commit yet" : git.commit.substr(0, 12),
                     git.branch.empty() ? "" : " on " + git.branch, git.dirty ? ", with uncommitted changes" : "");
}

void print_launch(const RunSummary& summary) {
  const LaunchRecord& launch = *summary.run.last();
  fact("state", state_text(launch));
  fact("started", fmt::format("{}, time {}", time_text(launch.started_ns), duration_text(summary.duration_ns)));
  fact("file", fmt::format("{} {}", launch.file, fmt::join(launch.arguments, " ")));
  if (launch.git) fact("git", git_text(*launch.git));
  fact("seed", fmt::format("{}, ranks {}", launch.seed, launch.ranks));
  fact("versions", fmt::format("Trainyard {}, LibTorch {}", launch.versions.trainyard, launch.versions.libtorch));
  fact("", fmt::format("{}, {}", launch.versions.compiler, launch.versions.system));
  fact("launcher", fmt::format("{}, process {} on host {}", launch.run, launch.launcher.pid, launch.launcher.host));
  fact("kept in", archive::launch_folder(summary.run.directory, launch.number));
}

/// The last step of each launch; empty for a launch without metrics.
using LastSteps = std::vector<std::optional<std::uint64_t>>;

LastSteps last_steps(const archive::RunRecord& run) {
  archive::MetricsReader reader(run.directory);
  const archive::MetricsTable* table = nullptr;
  try {
    reader.update();
    table = reader.find("train");
  } catch (const Error&) {
    // The error is ignored here, because read_figures() reports it.
  }
  LastSteps steps;
  for (std::size_t i = 0; i < run.launches.size(); ++i) {
    steps.push_back(table == nullptr ? std::nullopt : archive::last_step(run, i, *table));
  }
  return steps;
}

void print_launches(const RunSummary& summary, const LastSteps& steps) {
  Table table({"launch", "run", "started", "time", "step", "how it ended"});
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const LaunchRecord& launch = summary.run.launches[i];
    const std::int64_t time = launch.ended_ns == 0 ? 0 : launch.ended_ns - launch.started_ns;
    table.add({std::to_string(launch.number), launch.run, time_text(launch.started_ns), duration_text(time),
               steps[i] ? std::to_string(*steps[i]) : "-", state_text(launch)});
  }
  fmt::print("\n{}", table.text(use_colours(), terminal_width()));
}

void print_figures(const std::vector<MetricFigures>& figures) {
  if (figures.empty()) return;
  Table table({"metric", "last", "step", "smallest", "step", "largest", "step"});
  for (const MetricFigures& one : figures) {
    std::vector<std::string> cells{one.name, value_text(one.last.value), std::to_string(one.last.step)};
    for (const auto& best : {one.smallest, one.largest}) {
      cells.push_back(best ? value_text(best->value) : "-");
      cells.push_back(best ? std::to_string(best->step) : "-");
    }
    table.add(std::move(cells));
  }
  fmt::print("\n{}", table.text(use_colours()));
}

void print_parameters(const Parameters& parameters) {
  if (parameters.empty()) return;
  Table table({"parameter", "value"});
  for (const auto& [name, value] : parameters) {
    table.add({name, value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)});
  }
  fmt::print("\n{}", table.text(use_colours(), terminal_width()));
}

ordered_json launch_json(const LaunchRecord& launch, const std::optional<std::uint64_t>& step) {
  ordered_json out = ordered_json::parse(archive::format_launch_record(launch));
  out["state"] = name_of(archive::state_now(launch));
  out["last_step"] = step ? ordered_json(*step) : ordered_json();
  return out;
}

ordered_json figures_json(const std::vector<MetricFigures>& figures) {
  const auto point = [](const archive::MetricPoint& at) -> ordered_json {
    return {{"value", json_number(at.value)}, {"step", at.step}};
  };
  ordered_json all = ordered_json::object();
  for (const MetricFigures& one : figures) {
    all[one.name] = {{"last", point(one.last)},
                     {"smallest", one.smallest ? point(*one.smallest) : ordered_json()},
                     {"largest", one.largest ? point(*one.largest) : ordered_json()}};
  }
  return all;
}

void print_as_json(const RunSummary& summary, const LastSteps& steps, const Parameters& parameters,
                   const std::vector<MetricFigures>& figures) {
  ordered_json launches = ordered_json::array();
  for (std::size_t i = 0; i < steps.size(); ++i) launches.push_back(launch_json(summary.run.launches[i], steps[i]));
  print_json({{"name", summary.run.name},
              {"directory", summary.run.directory},
              {"launches", launches},
              {"parameters", parameters},
              {"metrics", figures_json(figures)}});
}

}  // namespace

int show_run(const RunsArguments& arguments) {
  const RunSummary summary = archive::summarise(find_past_run(arguments.runs.front(), arguments.folder), now_ns());
  const LastSteps steps = last_steps(summary.run);
  const Parameters parameters = read_parameters(summary.run);
  const std::vector<MetricFigures> figures = read_figures(summary.run.directory);
  for (const std::string& sentence : summary.run.unreadable) {
    std::fprintf(stderr, "warning: %s\n", printable_line(sentence).c_str());
  }
  if (arguments.as_json) {
    print_as_json(summary, steps, parameters, figures);
    return kExitOk;
  }
  fact("run", summary.run.name);
  fact("directory", summary.run.directory);
  if (summary.run.last() == nullptr) {
    fact("state", "unknown: no launch has kept a record here");
  } else {
    print_launch(summary);
  }
  if (steps.size() > 1) print_launches(summary, steps);
  print_figures(figures);
  print_parameters(parameters);
  return kExitOk;
}

}  // namespace trainyard::tools
