// SPDX-License-Identifier: Apache-2.0
#include "components/foxglove/topic_feed.h"

#include <nlohmann/json.hpp>
#include <thread>

#include "messages/error.h"
#include "visitors/json_fields.h"

namespace trainyard::foxglove {

void TopicFeed::locate(const nlohmann::json& topics) {
  endpoints_.clear();
  for (const auto& topic : topics) {
    if (!topic.is_object() || !topic.contains("publishers")) continue;
    std::set<std::string>& endpoints = endpoints_[visitors::text_in(topic, "topic")];
    for (const auto& publisher : topic["publishers"]) {
      // The endpoint is empty while the process starts.
      if (std::string endpoint = visitors::text_in(publisher, "endpoint"); !endpoint.empty()) {
        endpoints.insert(std::move(endpoint));
      }
    }
  }
  for (const auto& [name, topic] : topics_) connect(*topic);
}

void TopicFeed::follow(const std::set<std::string>& topics) {
  std::erase_if(topics_, [&](const auto& entry) { return !topics.contains(entry.first); });
  for (const std::string& name : topics) {
    if (topics_.contains(name)) continue;
    auto topic = std::make_unique<Topic>();
    topic->stream.topic = name;
    connect(*topic);
    topics_.emplace(name, std::move(topic));
  }
}

// A disconnected link is removed only if its address is no longer in the list. If the process is started again at the
// same address, the link reconnects.
void TopicFeed::connect(Topic& topic) {
  const std::set<std::string>& endpoints = endpoints_[topic.stream.topic];
  std::erase_if(topic.links, [&](const auto& link) {
    return link.second == nullptr || (link.second->disconnected() && !endpoints.contains(link.first));
  });
  for (const std::string& endpoint : endpoints) {
    if (topic.links.contains(endpoint)) continue;
    try {
      topic.links[endpoint] = std::make_unique<visitors::GatewayLink>(
          context_, endpoint, std::vector<visitors::Stream*>{&topic.stream}, visitors::ListenOptions{});
    } catch (const Error&) {
      // The process may have ended. The next list of topics contains its new address.
    }
  }
}

std::optional<visitors::Received> TopicFeed::next(std::chrono::milliseconds patience) {
  if (auto received = take()) return received;
  if (patience.count() == 0) return std::nullopt;
  std::vector<zmq::pollitem_t> items;
  for (const auto& [name, topic] : topics_) {
    for (const auto& [endpoint, link] : topic->links) {
      if (link != nullptr) link->add_to(items);
    }
  }
  if (items.empty()) {
    std::this_thread::sleep_for(patience);
  } else {
    zmq::poll(items, patience);
  }
  return take();
}

std::optional<visitors::Received> TopicFeed::take() {
  auto topic = topics_.upper_bound(turn_);
  for (std::size_t i = 0; i < topics_.size(); ++i, ++topic) {
    if (topic == topics_.end()) topic = topics_.begin();
    for (auto& [endpoint, link] : topic->second->links) {
      try {
        auto received = link == nullptr ? std::nullopt : link->take();
        if (!received) continue;
        turn_ = topic->first;
        return received;
      } catch (const Error&) {
        link.reset();
      }
    }
  }
  return std::nullopt;
}

}  // namespace trainyard::foxglove
