// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "viewer/alert.h"
#include "viewer/newest.h"

namespace trainyard::viewer {

/// The alerts of one run. Their number is limited; the oldest are dropped.
class AlertShelf {
 public:
  static constexpr std::size_t kMaxAlerts = 1000;

  void add(Alert alert) { alerts_.add(std::move(alert)); }
  nlohmann::json list() const;

  /// Returns the number that the next alert will have.
  std::uint64_t end() const { return alerts_.end(); }
  /// Appends a push that contains the alerts from number `position` on, if there are any, and sets `position` to the
  /// end.
  void append_news(std::uint64_t& position, std::vector<nlohmann::json>& news) const;

 private:
  Newest<Alert> alerts_{kMaxAlerts};
};

}  // namespace trainyard::viewer
