// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "viewer/newest.h"

namespace trainyard::viewer {

/// A parameter that somebody changed through the viewer, or an action such as "pause", which has no values.
struct Change {
  std::int64_t time_ns = 0;
  std::uint64_t step = 0;
  std::string component;
  std::string name;
  nlohmann::json from, to;
  std::string who;
};

nlohmann::json json_of(const Change& change);
/// Reads what json_of() has made. Throws nlohmann::json::exception.
Change change_of(const nlohmann::json& object);

/// What was changed in one run. It is bounded: the oldest changes are forgotten.
class ChangeShelf {
 public:
  static constexpr std::size_t kMaxChanges = 10'000;

  void add(Change change) { changes_.add(std::move(change)); }
  nlohmann::json list() const;

  /// Returns the number of the next change.
  std::uint64_t end() const { return changes_.end(); }
  /// Appends one push for each change from number `position` on, and moves the position.
  void append_news(std::uint64_t& position, std::vector<nlohmann::json>& news) const;

 private:
  Newest<Change> changes_{kMaxChanges};
};

}  // namespace trainyard::viewer
