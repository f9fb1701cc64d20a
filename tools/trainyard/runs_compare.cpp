// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "messages/error.h"
#include "messages/nearest.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/json_output.h"
#include "tools/trainyard/run_metrics.h"
#include "tools/trainyard/runs.h"
#include "tools/trainyard/table.h"

namespace trainyard::tools {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// Longer values are cut off in the table, so that the columns of all runs fit.
constexpr std::size_t kLongestCell = 24;

/// One run of the comparison.
struct Compared {
  archive::RunRecord record;
  std::map<std::string, json> parameters;
  std::vector<MetricFigures> figures;

  const json* parameter(const std::string& name) const {
    const auto found = parameters.find(name);
    return found == parameters.end() ? nullptr : &found->second;
  }
  const MetricFigures* figure(const std::string& name) const {
    const auto found = std::ranges::find(figures, name, &MetricFigures::name);
    return found == figures.end() ? nullptr : &*found;
  }
};

std::vector<Compared> read_all(const RunsArguments& arguments) {
  std::vector<Compared> all;
  for (const std::string& word : arguments.runs) {
    Compared one{find_past_run(word, arguments.folder), {}, {}};
    one.parameters = read_parameters(one.record);
    one.figures = read_figures(one.record.directory);
    all.push_back(std::move(one));
  }
  return all;
}

/// Returns the names of all parameters that at least one of the runs has, sorted.
std::set<std::string> parameter_names(const std::vector<Compared>& runs) {
  std::set<std::string> names;
  for (const Compared& run : runs) {
    for (const auto& [name, value] : run.parameters) names.insert(name);
  }
  return names;
}

/// Returns the names of the metrics in the order of the first run, followed by those that only later runs have.
std::vector<std::string> figure_names(const std::vector<Compared>& runs) {
  std::vector<std::string> names;
  for (const Compared& run : runs) {
    for (const MetricFigures& figure : run.figures) {
      if (std::ranges::find(names, figure.name) == names.end()) names.push_back(figure.name);
    }
  }
  return names;
}

bool differ(const std::vector<Compared>& runs, const std::string& name) {
  const auto same = [&](const Compared& run) {
    const json* first = runs.front().parameter(name);
    const json* other = run.parameter(name);
    return first == nullptr ? other == nullptr : other != nullptr && *first == *other;
  };
  return !std::ranges::all_of(runs, same);
}

std::string cell(const json* value) {
  if (value == nullptr) return "-";
  std::string text =
      value->is_string() ? value->get<std::string>() : value->dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > kLongestCell) text = text.substr(0, kLongestCell - 3) + "...";
  return text;
}

Table table_for(const std::vector<Compared>& runs, const char* first) {
  std::vector<std::string> heading{first};
  for (const Compared& run : runs) heading.push_back(run.record.name);
  return Table(std::move(heading));
}

void print_parameters(const std::vector<Compared>& runs, bool differences) {
  Table table = table_for(runs, "  parameter");
  for (const std::string& name : parameter_names(runs)) {
    const bool different = differ(runs, name);
    if (differences && !different) continue;
    std::vector<std::string> cells{(different ? "* " : "  ") + name};
    for (const Compared& run : runs) cells.push_back(cell(run.parameter(name)));
    table.add(std::move(cells));
  }
  if (!table.empty()) fmt::print("{}\n", table.text(use_colours()));
}

std::string point_at_step(const std::optional<archive::MetricPoint>& point) {
  return point ? fmt::format("{:.6g} @{}", point->value, point->step) : "-";
}

void print_figures(const std::vector<Compared>& runs) {
  Table table = table_for(runs, "  metric (value @step)");
  for (const std::string& name : figure_names(runs)) {
    std::vector<std::string> last{"  " + name + ", last"}, least{"  " + name + ", smallest"},
        most{"  " + name + ", largest"};
    for (const Compared& run : runs) {
      const MetricFigures* figure = run.figure(name);
      last.push_back(figure == nullptr ? "-" : point_at_step(figure->last));
      least.push_back(figure == nullptr ? "-" : point_at_step(figure->smallest));
      most.push_back(figure == nullptr ? "-" : point_at_step(figure->largest));
    }
    for (auto* row : {&last, &least, &most}) table.add(std::move(*row));
  }
  if (!table.empty()) fmt::print("{}", table.text(use_colours()));
}

void print_as_json(const std::vector<Compared>& runs, bool differences) {
  const auto point = [](const archive::MetricPoint& at) -> ordered_json {
    return {{"value", json_number(at.value)}, {"step", at.step}};
  };
  ordered_json all = ordered_json::array();
  for (const Compared& run : runs) {
    ordered_json parameters = ordered_json::object(), metrics = ordered_json::object();
    for (const auto& [name, value] : run.parameters) {
      if (!differences || differ(runs, name)) parameters[name] = value;
    }
    for (const MetricFigures& figure : run.figures) {
      metrics[figure.name] = {{"last", point(figure.last)},
                              {"smallest", figure.smallest ? point(*figure.smallest) : ordered_json()},
                              {"largest", figure.largest ? point(*figure.largest) : ordered_json()}};
    }
    all.push_back({{"name", run.record.name},
                   {"directory", run.record.directory},
                   {"parameters", parameters},
                   {"metrics", metrics}});
  }
  print_json(all);
}

/// A run, with the value by which the runs are ordered.
struct Ranked {
  archive::RunRecord record;
  archive::MetricPoint point;
};

std::vector<Ranked> rank(const RunsArguments& arguments) {
  std::vector<Ranked> ranked;
  std::set<std::string> known;
  for (const archive::RunRecord& record : find_past_runs(arguments.folders)) {
    for (const MetricFigures& figure : read_figures(record.directory)) {
      known.insert(figure.name);
      const auto& point = arguments.largest ? figure.largest : figure.smallest;
      if (figure.name == arguments.by && point) ranked.push_back({record, *point});
    }
  }
  if (ranked.empty()) {
    throw Error(Code::kNotFound, "no run has a value of '{}'{}", arguments.by,
                suggestion(arguments.by, {known.begin(), known.end()}));
  }
  std::ranges::stable_sort(ranked, [&](const Ranked& a, const Ranked& b) {
    return arguments.largest ? a.point.value > b.point.value : a.point.value < b.point.value;
  });
  if (ranked.size() > arguments.count) ranked.resize(arguments.count);
  return ranked;
}

}  // namespace

int compare_runs(const RunsArguments& arguments) {
  const std::vector<Compared> runs = read_all(arguments);
  if (arguments.as_json) {
    print_as_json(runs, arguments.differences);
  } else {
    print_parameters(runs, arguments.differences);
    print_figures(runs);
  }
  return kExitOk;
}

int rank_runs(const RunsArguments& arguments) {
  const std::vector<Ranked> ranked = rank(arguments);
  Table table({"name", arguments.by, "step", "directory"});
  ordered_json all = ordered_json::array();
  for (const Ranked& one : ranked) {
    table.add({one.record.name, value_text(one.point.value), std::to_string(one.point.step), one.record.directory});
    all.push_back({{"name", one.record.name},
                   {"directory", one.record.directory},
                   {"value", one.point.value},
                   {"step", one.point.step}});
  }
  if (arguments.as_json) {
    print_json(all);
  } else {
    std::fputs(table.text(use_colours()).c_str(), stdout);
  }
  return kExitOk;
}

}  // namespace trainyard::tools
