// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "messages/metrics.h"
#include "viewer/columns.h"
#include "viewer/curve.h"

namespace trainyard::viewer {

/// The metrics of one run, divided into stages, and the step that the run has reached according to them. The size is
/// limited: Columns drops rows of long series, and stages beyond the first kMaxStages are ignored.
class CurveShelf {
 public:
  static constexpr std::size_t kMaxStages = 64;

  /// Adds a row. Returns false if the shelf already contains the row, or if there are too many stages.
  bool add(const Metrics& metrics);
  /// Removes rows whose steps a later launch has repeated. Needed for a directory to which several launches have
  /// written.
  void drop_repeated_steps();

  /// Returns the largest step in the metrics.
  std::uint64_t step() const { return step_; }
  /// Returns the total number of steps of the run, as its metrics state it; 0 if they do not.
  std::uint64_t total_steps() const { return total_steps_; }

  /// Returns the list of all metrics. The elements have the form `{"stage", "name", "rows", "last", "last_step"}`.
  nlohmann::json list() const;
  /// Returns one metric of one stage in a form that can be drawn. Throws kNotFound if there is no such stage or metric;
  /// the error message suggests the most similar name.
  Curve curve(const std::string& stage, const std::string& name, const CurveRequest& request) const;

  /// For each stage, the number of rows that a browser page knows of. position() returns the numbers for a page that
  /// knows all rows.
  using Position = std::map<std::string, std::size_t>;
  Position position() const;
  /// If stages have changed since `position`, appends to `news` one message for a browser page (a "push" in
  /// docs/viewer_protocol.md) that names these stages, and updates `position`.
  void append_news(Position& position, std::vector<nlohmann::json>& news) const;

 private:
  const Columns& columns(const std::string& stage) const;

  std::map<std::string, Columns> stages_;
  std::uint64_t step_ = 0, total_steps_ = 0;
};

}  // namespace trainyard::viewer
