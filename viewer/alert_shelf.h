// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "viewer/alert.h"
#include "viewer/newest.h"

namespace trainyard::viewer {

/// The alerts of one run. Their number is limited: when there are too many, the oldest are removed.
class AlertShelf {
 public:
  static constexpr std::size_t kMaxAlerts = 1000;

  void add(Alert alert) { alerts_.add(std::move(alert)); }
  nlohmann::json list() const;

  /// Returns the number that the next alert will get.
  std::uint64_t end() const { return alerts_.end(); }
  /// Appends the alerts numbered `position` and above to `news`, as one message for a browser page (a "push" in
  /// docs/viewer_protocol.md), and sets `position` to end(). If there are more than kMostNews, only the newest
  /// kMostNews are included. Does nothing if there are none.
  void append_news(std::uint64_t& position, std::vector<nlohmann::json>& news) const;

 private:
  Newest<Alert> alerts_{kMaxAlerts};
};

}  // namespace trainyard::viewer
