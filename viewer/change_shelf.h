// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "viewer/newest.h"

namespace trainyard::viewer {

/// A change that somebody made through the viewer: of a parameter, or by an action such as "pause", which has no
/// values.
struct Change {
  std::int64_t time_ns = 0;
  std::uint64_t step = 0;
  std::string component;
  std::string name;
  nlohmann::json from, to;
  std::string who;
};

nlohmann::json json_of(const Change& change);
/// Converts JSON that json_of() has made back to a change. Throws nlohmann::json::exception for any other JSON.
Change change_of(const nlohmann::json& object);

/// The changes that were made in one run. Their number is limited; the oldest are dropped.
class ChangeShelf {
 public:
  static constexpr std::size_t kMaxChanges = 10'000;

  void add(Change change) { changes_.add(std::move(change)); }
  nlohmann::json list() const;

  /// Returns the number that the next change will have.
  std::uint64_t end() const { return changes_.end(); }
  /// Appends one push for each change from number `position` on, and sets `position` to the end.
  void append_news(std::uint64_t& position, std::vector<nlohmann::json>& news) const;

 private:
  Newest<Change> changes_{kMaxChanges};
};

}  // namespace trainyard::viewer
