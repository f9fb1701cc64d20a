// SPDX-License-Identifier: Apache-2.0
#include "viewer/graph_shelf.h"

#include <utility>

namespace trainyard::viewer {
namespace {

using nlohmann::json;

/// How long the graph counts as watched after a look. Pages that watch the graph look at it several times a second.
constexpr std::chrono::seconds kInterest{2};

}  // namespace

void GraphShelf::set(json graph) {
  graph_ = std::move(graph);
  ++number_;
}

json GraphShelf::look() const {
  looked_ = Clock::now();
  return graph_;
}

bool GraphShelf::is_watched() const { return Clock::now() < looked_ + kInterest; }

void GraphShelf::append_news(std::uint64_t& position, std::vector<json>& news) const {
  looked_ = Clock::now();
  if (position == number_) return;
  position = number_;
  news.push_back({{"push", "graph"}, {"graph", graph_}});
}

}  // namespace trainyard::viewer
