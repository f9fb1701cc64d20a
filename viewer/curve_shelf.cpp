// SPDX-License-Identifier: Apache-2.0
#include "viewer/curve_shelf.h"

#include <algorithm>
#include <utility>

#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard::viewer {
namespace {

using nlohmann::json;

/// Returns the entry of one metric for the list. Its last value need not be in the last row, because rows can lack
/// values.
json entry_of(const std::string& stage, const Columns& columns, const Column& column) {
  std::size_t row = columns.rows();
  while (row > 0 && is_absent(column.values[row - 1])) --row;
  return {{"stage", stage},
          {"name", column.name},
          {"rows", column.present},
          {"last", row > 0 ? json(column.values[row - 1]) : json()},
          {"last_step", row > 0 ? json(columns.steps()[row - 1]) : json()}};
}

}  // namespace

bool CurveShelf::add(const Metrics& metrics) {
  auto stage = stages_.find(metrics.stage);
  if (stage == stages_.end()) {
    if (stages_.size() >= kMaxStages) return false;
    stage = stages_.emplace(metrics.stage, Columns()).first;
  }
  step_ = std::max(step_, metrics.step);
  if (metrics.total_steps != 0) total_steps_ = metrics.total_steps;
  return stage->second.add(metrics);
}

void CurveShelf::drop_repeated_steps() {
  for (auto& [stage, columns] : stages_) columns.drop_repeated_steps();
}

json CurveShelf::list() const {
  json list = json::array();
  for (const auto& [stage, columns] : stages_) {
    for (const Column& column : columns.metrics()) list.push_back(entry_of(stage, columns, column));
  }
  return list;
}

const Columns& CurveShelf::columns(const std::string& stage) const {
  const auto found = stages_.find(stage);
  if (found != stages_.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [each, unused] : stages_) known.push_back(each);
  throw Error(Code::kNotFound, "the run has no stage '{}'{}", stage, suggestion(stage, known));
}

Curve CurveShelf::curve(const std::string& stage, const std::string& name, const CurveRequest& request) const {
  const Columns& all = columns(stage);
  if (const Column* column = all.find(name)) return curve_of(all, *column, request);
  std::vector<std::string> known;
  for (const Column& each : all.metrics()) known.push_back(each.name);
  throw Error(Code::kNotFound, "the stage '{}' has no metric '{}'{}", stage, name, suggestion(name, known));
}

CurveShelf::Position CurveShelf::position() const {
  Position rows;
  for (const auto& [stage, columns] : stages_) rows[stage] = columns.rows();
  return rows;
}

void CurveShelf::append_news(Position& position, std::vector<json>& news) const {
  json changed = json::object();
  for (const auto& [stage, columns] : stages_) {
    std::size_t& known = position[stage];
    if (known != columns.rows()) changed[stage] = known = columns.rows();
  }
  if (!changed.empty()) news.push_back({{"push", "curves"}, {"stages", std::move(changed)}});
}

}  // namespace trainyard::viewer
