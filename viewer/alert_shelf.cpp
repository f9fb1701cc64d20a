// SPDX-License-Identifier: Apache-2.0
#include "viewer/alert_shelf.h"

namespace trainyard::viewer {

using nlohmann::json;

json AlertShelf::list() const {
  json list = json::array();
  for (std::uint64_t i = alerts_.first(); i < alerts_.end(); ++i) list.push_back(json_of(alerts_.at(i)));
  return list;
}

void AlertShelf::append_news(std::uint64_t& position, std::vector<json>& news) const {
  json alerts = take_news(alerts_, position, [this](std::uint64_t number) { return json_of(alerts_.at(number)); });
  if (!alerts.empty()) news.push_back({{"push", "alerts"}, {"alerts", std::move(alerts)}});
}

}  // namespace trainyard::viewer
