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

/// The metrics of one run, stage by stage, and the progress of the run according to them. The size is limited: Columns
/// thins out long series, and stages beyond kMaxStages are ignored.
class CurveShelf {
 public:
  static constexpr std::size_t kMaxStages = 64;

  /// Adds a row. Returns false if the shelf already contains it, or has no room for its stage.
  bool add(const Metrics& metrics);
  /// Removes rows whose steps were repeated by a later launch. Needed for a directory to which several launches have
  /// written.
  void drop_repeated_steps();

  /// Returns the newest step of all stages.
  std::uint64_t step() const { return step_; }
  /// Returns how many steps the run will do; 0 if this is not known.
  std::uint64_t total_steps() const { return total_steps_; }

  /// Returns the metrics as a list of `{"stage", "name", "rows", "last", "last_step"}`.
  nlohmann::json list() const;
  /// Returns the curve of one metric of one stage. Throws kNotFound, which suggests the nearest name.
  Curve curve(const std::string& stage, const std::string& name, const CurveRequest& request) const;

  /// The number of rows of each stage that a page has already received.
  using Position = std::map<std::string, std::size_t>;
  Position position() const;
  /// Appends a push that names the stages with new rows since `position`, if there are any, and sets `position` to the
  /// end.
  void append_news(Position& position, std::vector<nlohmann::json>& news) const;

 private:
  const Columns& columns(const std::string& stage) const;

  std::map<std::string, Columns> stages_;
  std::uint64_t step_ = 0, total_steps_ = 0;
};

}  // namespace trainyard::viewer
