// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/top_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "messages/printable.h"

namespace trainyard::tools {
namespace {

using visitors::ComponentShares;
using visitors::Observation;
using visitors::ObservedEdge;
using visitors::ObservedNode;
using visitors::ObservedProcess;

constexpr const char* kUnknown = "-";
/// A cause of waiting whose share of the time is smaller than this is not named.
constexpr double kLeastShare = 0.01;

std::string percent(double share) { return fmt::format("{:.0f}%", share * 100); }

std::string bytes_text(double bytes) {
  if (bytes < 1023.5) return fmt::format("{:.0f}B", bytes);
  for (const char* unit : {"K", "M", "G"}) {
    bytes /= 1024;
    if (bytes < 9.95) return fmt::format("{:.1f}{}", bytes, unit);
    if (bytes < 1023.5) return fmt::format("{:.0f}{}", bytes, unit);
  }
  return fmt::format("{:.1f}T", bytes / 1024);
}

std::string rate_text(double rate) {
  if (rate < 99.95) return fmt::format("{:.1f}", rate);
  if (rate < 99'999.5) return fmt::format("{:.0f}", rate);
  return rate < 999'500 ? fmt::format("{:.0f}k", rate / 1000) : fmt::format("{:.1f}M", rate / 1e6);
}

template <class T, class Text>
std::string or_unknown(const std::optional<T>& value, const Text& text) {
  return value ? text(*value) : kUnknown;
}

/// A column of the table. If there is little room, the columns with the largest `rank` are left out first.
template <class Row>
struct Column {
  const char* title;
  int rank;
  bool right;  ///< True if the column is aligned to the right.
  std::function<std::string(const Row&)> text;
};

/// The data for one row of the table of components.
struct ComponentRow {
  const ObservedNode* node;
  const ObservedProcess* process = nullptr;
  double in = 0, out = 0;
  bool has_rates = false;
  std::optional<std::uint64_t> queued;
  std::uint64_t dropped = 0;
};

std::string waits_text(const ObservedNode& node) {
  if (node.state != "active" && node.state != "running")
    return fmt::format("({})", node.state.empty() ? kUnknown : node.state);
  if (!node.shares) return kUnknown;
  std::string text;
  for (const ComponentShares::Share& share : node.shares->waiting) {
    if (share.share < kLeastShare) break;
    const std::string target = share.target.empty() ? share.kind : share.target;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", percent(share.share), target);
  }
  return text;
}

const std::vector<Column<ComponentRow>>& component_columns() {
  static const std::vector<Column<ComponentRow>> columns{
      {"COMPONENT", 0, false, [](const auto& row) { return row.node->name; }},
      {"STATE", 8, false, [](const auto& row) { return row.node->state; }},
      {"PROCESS", 10, false, [](const auto& row) { return row.node->process; }},
      {"PID", 7, true, [](const auto& row) { return std::to_string(row.node->pid); }},
      {"CPU", 5, true, [](const auto& row) { return row.process ? or_unknown(row.process->cpu, percent) : kUnknown; }},
      {"MEM", 6, true,
       [](const auto& row) {
         return row.process ? or_unknown(row.process->memory_bytes,
                                         [](std::uint64_t bytes) { return bytes_text(static_cast<double>(bytes)); })
                            : kUnknown;
       }},
      {"BUSY", 1, true, [](const auto& row) { return row.node->shares ? percent(row.node->shares->busy) : kUnknown; }},
      {"IN/S", 3, true, [](const auto& row) { return row.has_rates ? rate_text(row.in) : kUnknown; }},
      {"OUT/S", 4, true, [](const auto& row) { return row.has_rates ? rate_text(row.out) : kUnknown; }},
      {"QUEUE", 9, true,
       [](const auto& row) { return or_unknown(row.queued, [](std::uint64_t n) { return std::to_string(n); }); }},
      {"DROPS", 11, true, [](const auto& row) { return std::to_string(row.dropped); }},
      {"RESTARTS", 12, true, [](const auto& row) { return std::to_string(row.node->restarts); }},
      {"WAITS FOR", 2, false, [](const auto& row) { return waits_text(*row.node); }}};
  return columns;
}

const std::vector<Column<ObservedProcess>>& process_columns() {
  static const std::vector<Column<ObservedProcess>> columns{
      {"PROCESS", 0, false, [](const auto& process) { return process.name; }},
      {"PID", 1, true, [](const auto& process) { return std::to_string(process.pid); }},
      {"CPU", 2, true, [](const auto& process) { return or_unknown(process.cpu, percent); }},
      {"MEM", 3, true, [](const auto& process) {
         return or_unknown(process.memory_bytes,
                           [](std::uint64_t bytes) { return bytes_text(static_cast<double>(bytes)); });
       }}};
  return columns;
}

/// The texts of a table, from which columns are removed until the table fits the width.
template <class Row>
struct Cells {
  std::vector<const Column<Row>*> columns;
  std::vector<std::vector<std::string>> rows;  ///< The first row is the heading.

  std::vector<std::size_t> widths() const {
    std::vector<std::size_t> widths(columns.size());
    for (const auto& row : rows) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    return widths;
  }

  void remove(std::size_t column) {
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(column));
    for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
};

/// The last column may be cut, but not to less than this many characters.
constexpr std::size_t kLeastLast = 22;
constexpr std::size_t kGap = 2;

template <class Row>
void fit(Cells<Row>& cells, std::size_t width) {
  for (;;) {
    const std::vector<std::size_t> widths = cells.widths();
    std::size_t used = std::min(widths.back(), kLeastLast);
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) used += widths[i] + kGap;
    if (used <= width || cells.columns.size() <= 3) return;
    const auto least = std::ranges::max_element(cells.columns, {}, [](const auto* column) { return column->rank; });
    cells.remove(static_cast<std::size_t>(least - cells.columns.begin()));
  }
}

std::string cut(std::string line, std::size_t width) {
  if (width != 0 && line.size() > width) line.resize(width);
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

template <class Row>
void add_table(TopView& view, const std::vector<Column<Row>>& columns, const std::vector<Row>& rows,
               std::size_t width) {
  Cells<Row> cells;
  cells.rows.resize(rows.size() + 1);
  for (const Column<Row>& column : columns) {
    cells.columns.push_back(&column);
    cells.rows[0].push_back(column.title);
    for (std::size_t i = 0; i < rows.size(); ++i) cells.rows[i + 1].push_back(printable_line(column.text(rows[i])));
  }
  if (width != 0) fit(cells, width);
  const std::vector<std::size_t> widths = cells.widths();
  for (std::size_t i = 0; i < cells.rows.size(); ++i) {
    std::string line;
    for (std::size_t c = 0; c < widths.size(); ++c) {
      const std::string& cell = cells.rows[i][c];
      const std::string padding(widths[c] - cell.size(), ' ');
      line += (c == 0 ? "" : std::string(kGap, ' ')) + (cells.columns[c]->right ? padding + cell : cell + padding);
    }
    (i == 0 ? view.columns : view.rows.emplace_back()) = cut(std::move(line), width);
  }
}

std::vector<ComponentRow> component_rows(const Observation& observation) {
  std::vector<ComponentRow> rows;
  for (const ObservedNode& node : observation.nodes) {
    ComponentRow row{.node = &node, .queued = {}};
    for (const ObservedProcess& process : observation.processes) {
      if (process.name == node.process) row.process = &process;
    }
    for (const ObservedEdge& edge : observation.edges) {
      const double rate = edge.messages_per_s.value_or(0);
      if (edge.to != node.name && edge.from != node.name) continue;
      row.has_rates |= edge.messages_per_s.has_value();
      if (edge.from == node.name) row.out += rate;
      if (edge.to != node.name) continue;
      row.in += rate;
      row.dropped += edge.dropped;
      if (edge.under_way) row.queued = row.queued.value_or(0) + *edge.under_way;
    }
    rows.push_back(row);
  }
  return rows;
}

double cpu_of(const ObservedProcess* process) { return process == nullptr ? -1 : process->cpu.value_or(-1); }
double memory_of(const ObservedProcess* process) {
  return process == nullptr ? -1 : static_cast<double>(process->memory_bytes.value_or(0));
}

void sort_rows(std::vector<ComponentRow>& rows, TopSort sort) {
  if (sort == TopSort::kPlan) return;
  std::ranges::stable_sort(rows, std::ranges::greater(), [sort](const ComponentRow& row) {
    switch (sort) {
      case TopSort::kBusy:
        return row.node->shares ? row.node->shares->busy : -1;
      case TopSort::kCpu:
        return cpu_of(row.process);
      case TopSort::kMemory:
        return memory_of(row.process);
      default:
        return row.in + row.out;
    }
  });
}

void sort_rows(std::vector<ObservedProcess>& rows, TopSort sort) {
  if (sort == TopSort::kPlan) return;
  std::ranges::stable_sort(rows, std::ranges::greater(), [sort](const ObservedProcess& process) {
    return sort == TopSort::kMemory ? memory_of(&process) : cpu_of(&process);
  });
}

std::string progress_text(const TopHeadline& headline) {
  std::string text = printable_line(headline.run);
  if (headline.step) {
    text += fmt::format("  step {}", *headline.step);
    if (headline.total_steps != 0) text += fmt::format("/{}", headline.total_steps);
  }
  if (headline.loss) text += fmt::format("  loss {:.4g}", *headline.loss);
  if (headline.units_per_s) {
    text += fmt::format("  {} {}s/s", rate_text(*headline.units_per_s), printable_line(headline.unit));
  }
  return text;
}

std::string bottleneck_text(const Observation& observation) {
  std::string text;
  for (const visitors::Bottleneck& each : observation.bottlenecks) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", printable_line(each.component), percent(each.share));
  }
  return "bottleneck: " + (text.empty() ? kUnknown : text);
}

}  // namespace

TopView make_top_view(const TopHeadline& headline, const Observation& observation, const TopChoice& choice,
                      std::size_t width) {
  TopView view;
  view.head = {cut(progress_text(headline), width), cut(bottleneck_text(observation), width)};
  if (choice.processes) {
    std::vector<ObservedProcess> rows = observation.processes;
    sort_rows(rows, choice.sort);
    add_table(view, process_columns(), rows, width);
  } else {
    std::vector<ComponentRow> rows = component_rows(observation);
    sort_rows(rows, choice.sort);
    add_table(view, component_columns(), rows, width);
  }
  return view;
}

TopSort next_sort(TopSort sort, bool processes) {
  switch (sort) {
    case TopSort::kPlan:
      return processes ? TopSort::kCpu : TopSort::kBusy;
    case TopSort::kBusy:
      return TopSort::kCpu;
    case TopSort::kCpu:
      return TopSort::kMemory;
    case TopSort::kMemory:
      return processes ? TopSort::kPlan : TopSort::kRate;
    case TopSort::kRate:
      break;
  }
  return TopSort::kPlan;
}

const char* name_of_sort(TopSort sort) {
  switch (sort) {
    case TopSort::kPlan:
      return "plan";
    case TopSort::kBusy:
      return "busy";
    case TopSort::kCpu:
      return "cpu";
    case TopSort::kMemory:
      return "memory";
    case TopSort::kRate:
      break;
  }
  return "rate";
}

}  // namespace trainyard::tools
