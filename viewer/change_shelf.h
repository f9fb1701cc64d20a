// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "viewer/newest.h"

namespace trainyard::viewer {

/// A change that somebody has made through the viewer: a new value of a parameter, or an action without a value, such
/// as "pause".
struct Change {
  std::int64_t time_ns = 0;
  std::uint64_t step = 0;
  std::string component;
  std::string name;
  nlohmann::json from, to;
  std::string who;
};

nlohmann::json json_of(const Change& change);
/// The reverse of json_of(). Throws nlohmann::json::exception if the object does not have the form that json_of()
/// returns.
Change change_of(const nlohmann::json& object);

/// The changes that were made in one run. Their number is limited: when there are too many, the oldest are removed.
class ChangeShelf {
 public:
  static constexpr std::size_t kMaxChanges = 10'000;

  void add(Change change) { changes_.add(std::move(change)); }
  nlohmann::json list() const;

  /// Returns the number that the next change will get.
  std::uint64_t end() const { return changes_.end(); }
  /// Appends each change numbered `position` and above to `news`, as a message for a browser page (a "push" in
  /// docs/viewer_protocol.md), and sets `position` to end().
  void append_news(std::uint64_t& position, std::vector<nlohmann::json>& news) const;

 private:
  Newest<Change> changes_{kMaxChanges};
};

}  // namespace trainyard::viewer
