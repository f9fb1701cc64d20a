// SPDX-License-Identifier: Apache-2.0
#include "viewer/change_shelf.h"

#include <algorithm>

namespace trainyard::viewer {

using nlohmann::json;

json json_of(const Change& change) {
  return {{"time_ns", change.time_ns}, {"step", change.step}, {"component", change.component},
          {"name", change.name},       {"from", change.from}, {"to", change.to},
          {"who", change.who}};
}

Change change_of(const json& object) {
  return {object.at("time_ns"), object.at("step"), object.at("component"), object.at("name"),
          object.at("from"),    object.at("to"),   object.at("who")};
}

json ChangeShelf::list() const {
  json list = json::array();
  for (std::uint64_t i = changes_.first(); i < changes_.end(); ++i) list.push_back(json_of(changes_.at(i)));
  return list;
}

void ChangeShelf::append_news(std::uint64_t& position, std::vector<json>& news) const {
  for (std::uint64_t i = std::max(position, changes_.first()); i < changes_.end(); ++i) {
    news.push_back({{"push", "parameters"}, {"change", json_of(changes_.at(i))}});
  }
  position = changes_.end();
}

}  // namespace trainyard::viewer
