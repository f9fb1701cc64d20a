// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "viewer/alert.h"
#include "viewer/newest.h"

namespace trainyard::viewer {

/// The alerts of one run. It is bounded: the oldest are forgotten.
class AlertShelf {
 public:
  static constexpr std::size_t kMaxAlerts = 1000;

  void add(Alert alert) { alerts_.add(std::move(alert)); }
  nlohmann::json list() const;

  /// Returns the number of the next alert.
  std::uint64_t end() const { return alerts_.end(); }
  /// Appends the push with the alerts from number `position` on, if any, and moves the position.
  void append_news(std::uint64_t& position, std::vector<nlohmann::json>& news) const;

 private:
  Newest<Alert> alerts_{kMaxAlerts};
};

}  // namespace trainyard::viewer
