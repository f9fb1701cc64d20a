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

/// The metrics of one run, stage by stage, and how far they say that the run is. It is bounded: Columns thins out long
/// series, and stages beyond kMaxStages are ignored.
class CurveShelf {
 public:
  static constexpr std::size_t kMaxStages = 64;

  /// Adds a row. Returns false if the shelf has it already, or has no room for its stage.
  bool add(const Metrics& metrics);
  /// Leaves out rows whose steps were repeated later; for a directory to which several launches have written.
  void drop_repeated_steps();

  /// Returns the newest step of all stages.
  std::uint64_t step() const { return step_; }
  /// Returns how many steps the run will do; 0 if it has not said so.
  std::uint64_t total_steps() const { return total_steps_; }

  /// Returns what there is, as a list of `{"stage", "name", "rows", "last", "last_step"}`.
  nlohmann::json list() const;
  /// Returns one metric of one stage as it can be drawn. Throws kNotFound, with the nearest name.
  Curve curve(const std::string& stage, const std::string& name, const CurveRequest& request) const;

  /// How many rows of each stage a page knows.
  using Position = std::map<std::string, std::size_t>;
  Position position() const;
  /// Appends the push that names the stages whose rows have changed since a position, if any, and moves the position.
  void append_news(Position& position, std::vector<nlohmann::json>& news) const;

 private:
  const Columns& columns(const std::string& stage) const;

  std::map<std::string, Columns> stages_;
  std::uint64_t step_ = 0, total_steps_ = 0;
};

}  // namespace trainyard::viewer
