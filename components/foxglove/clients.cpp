// SPDX-License-Identifier: Apache-2.0
#include "components/foxglove/clients.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "components/foxglove/protocol.h"
#include "messages/error.h"

namespace trainyard::foxglove {
namespace {

using nlohmann::json;

constexpr int kMostRequests = 16;
constexpr std::size_t kMostWatchedParameters = 4096;
/// Limits for the kept messages of latched topics: the largest size of a message, and the largest number of outputs of
/// a topic whose last message is kept.
constexpr std::size_t kMostKeptBytes = 1u << 20;
constexpr std::size_t kMostKeptSenders = 256;
constexpr std::chrono::seconds kBetweenComplaints{1};

/// Returns the ids that are in `before` and not in `after`.
template <class T>
std::vector<std::uint32_t> gone(const std::vector<T>& before, const std::vector<T>& after) {
  std::vector<std::uint32_t> ids;
  for (const T& each : before) {
    if (std::ranges::find(after, each.id, &T::id) == after.end()) ids.push_back(each.id);
  }
  return ids;
}

template <class T>
std::vector<T> added(const std::vector<T>& before, const std::vector<T>& after) {
  std::vector<T> list;
  for (const T& each : after) {
    if (std::ranges::find(before, each.id, &T::id) == before.end()) list.push_back(each);
  }
  return list;
}

}  // namespace

Clients::Id Clients::add(web::Channel& channel, const std::string& server_info) {
  const std::lock_guard lock(mutex_);
  channel.answer(server_info);
  channel.answer(advertise(offer_.channels));
  if (channel.role() == web::Role::kControl) channel.answer(advertise_services(offer_.services));
  clients_[next_id_].channel = &channel;
  return next_id_++;
}

void Clients::remove(Id id) {
  const std::lock_guard lock(mutex_);
  clients_.erase(id);
}

void Clients::set_offer(Offer offer) {
  const std::lock_guard lock(mutex_);
  const Offer before = std::exchange(offer_, std::move(offer));
  tell_channels(before);
  tell_services(before);
  const std::string graph = graph_update(before.graph, offer_.graph);
  for (auto& [id, client] : clients_) {
    if (client.graph && !graph.empty()) must_tell(client, graph);
  }
}

// Sends a text that the client must not miss, because it would then have wrong information about the topics and
// services. If there is no room for it, closes the connection; the client can connect again.
void Clients::must_tell(Client& client, std::string text) {
  if (!client.channel->push(std::make_shared<const std::string>(std::move(text)))) client.channel->close();
}

void Clients::tell_channels(const Offer& before) {
  const auto removed = gone(before.channels, offer_.channels);
  const auto more = added(before.channels, offer_.channels);
  for (auto& [id, client] : clients_) {
    for (const std::uint32_t channel : removed) {
      const auto subscription = client.subscriptions.find(channel);
      if (subscription == client.subscriptions.end()) continue;
      client.channels.erase(subscription->second);
      client.subscriptions.erase(subscription);
    }
    if (!removed.empty()) must_tell(client, unadvertise(removed));
    if (!more.empty()) must_tell(client, advertise(more));
  }
}

void Clients::tell_services(const Offer& before) {
  const auto removed = gone(before.services, offer_.services);
  const auto more = added(before.services, offer_.services);
  for (auto& [id, client] : clients_) {
    if (client.channel->role() != web::Role::kControl) continue;
    if (!removed.empty()) must_tell(client, unadvertise_services(removed));
    if (!more.empty()) must_tell(client, advertise_services(more));
  }
}

std::vector<std::string> Clients::parameter_owners() const {
  const std::lock_guard lock(mutex_);
  return offer_.parameter_owners;
}

Service Clients::service(std::uint32_t number) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(offer_.services, number, &Service::id);
  if (found == offer_.services.end()) throw Error(Code::kNotFound, "there is no service of the number {}", number);
  return *found;
}

const Channel* Clients::find_channel(std::uint32_t id) const {
  const auto found = std::ranges::find(offer_.channels, id, &Channel::id);
  return found == offer_.channels.end() ? nullptr : &*found;
}

void Clients::subscribe(Id id, std::uint32_t subscription, std::uint32_t channel) {
  const std::lock_guard lock(mutex_);
  Client& client = clients_.at(id);
  const Channel* found = find_channel(channel);
  if (found == nullptr) throw Error(Code::kNotFound, "there is no channel of the number {}", channel);
  if (client.channels.contains(subscription)) {
    throw Error(Code::kInvalidArgument, "the subscription {} exists already", subscription);
  }
  if (client.subscriptions.contains(channel)) {
    throw Error(Code::kInvalidArgument, "the channel {} ({}) is subscribed already", channel, found->topic);
  }
  client.channels[subscription] = channel;
  client.subscriptions[channel] = subscription;
  for (const auto& [sender, news] : kept_[found->topic]) send(client, subscription, news);
}

void Clients::unsubscribe(Id id, std::uint32_t subscription) {
  const std::lock_guard lock(mutex_);
  Client& client = clients_.at(id);
  const auto found = client.channels.find(subscription);
  if (found == client.channels.end()) {
    throw Error(Code::kNotFound, "there is no subscription of the number {}", subscription);
  }
  client.subscriptions.erase(found->second);
  client.channels.erase(found);
}

void Clients::watch_parameters(Id id, const std::vector<std::string>& names, bool watch) {
  const std::lock_guard lock(mutex_);
  Client& client = clients_.at(id);
  if (names.empty()) {
    client.all_parameters = watch;
    client.parameters.clear();
  }
  for (const std::string& name : names) {
    if (!watch) {
      client.parameters.erase(name);
    } else if (client.parameters.size() < kMostWatchedParameters || client.parameters.contains(name)) {
      client.parameters.insert(name);
    } else {
      throw Error(Code::kUnsupported,
                  "a client can watch at most {} parameters by name; it can watch all of them by naming none",
                  kMostWatchedParameters);
    }
  }
}

void Clients::watch_graph(Id id, bool watch) {
  const std::lock_guard lock(mutex_);
  Client& client = clients_.at(id);
  client.graph = watch;
  if (!watch) return;
  const std::string graph = graph_update({}, offer_.graph);
  if (!graph.empty()) client.channel->answer(graph);
}

std::set<std::string> Clients::wanted_topics() {
  const std::lock_guard lock(mutex_);
  std::set<std::string> topics;
  for (const auto& [id, client] : clients_) {
    for (const auto& [channel, subscription] : client.subscriptions) {
      if (const Channel* found = find_channel(channel)) topics.insert(found->topic);
    }
  }
  std::erase_if(kept_, [&](const auto& entry) { return !topics.contains(entry.first); });
  return topics;
}

bool Clients::parameters_wanted() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(
      clients_, [](const auto& entry) { return entry.second.all_parameters || !entry.second.parameters.empty(); });
}

void Clients::publish(News news) {
  const std::lock_guard lock(mutex_);
  const auto channel = std::ranges::find(offer_.channels, news.topic, &Channel::topic);
  if (channel == offer_.channels.end()) return;
  for (auto& [id, client] : clients_) {
    const auto subscription = client.subscriptions.find(channel->id);
    if (subscription != client.subscriptions.end()) send(client, subscription->second, news);
  }
  if (!(news.latched || channel->latched) || news.json.size() > kMostKeptBytes) return;
  auto& senders = kept_[news.topic];
  if (senders.size() >= kMostKeptSenders && !senders.contains(news.sender)) return;
  News& last = senders[news.sender];
  last = std::move(news);
}

void Clients::send(Client& client, std::uint32_t subscription, const News& news) {
  push(client, message_data(subscription, news.time_ns, news.json), /*binary=*/true);
}

void Clients::push(Client& client, std::string text, bool binary) {
  if (!client.channel->push(std::make_shared<const std::string>(std::move(text)), binary)) ++client.missed;
}

// The time is dropped if a client's queue has no room, because it is sent again soon.
void Clients::tell_time(std::uint64_t time_ns) {
  const auto text = std::make_shared<const std::string>(time_message(time_ns));
  const std::lock_guard lock(mutex_);
  for (auto& [id, client] : clients_) {
    client.channel->push(text, /*binary=*/true);
    tell_missed(client);
  }
}

void Clients::tell_missed(Client& client) {
  const auto now = std::chrono::steady_clock::now();
  if (client.missed == client.told_missed || now - client.told < kBetweenComplaints) return;
  const std::string text = fmt::format(
      "{} messages were left out so far, because this client reads more slowly than the run sends", client.missed);
  const auto message = std::make_shared<const std::string>(status(StatusLevel::kWarning, text, "missed"));
  if (!client.channel->push(message)) return;
  client.told_missed = client.missed;
  client.told = now;
}

void Clients::tell_parameters(const json& values, bool just_set) {
  const std::lock_guard lock(mutex_);
  json changed = json::array();
  for (const json& value : values) {
    std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    const auto [known, is_new] = parameters_.try_emplace(value.value("name", ""), text);
    if (is_new ? !just_set : known->second == text) continue;
    known->second = std::move(text);
    changed.push_back(value);
  }
  for (auto& [id, client] : clients_) {
    json list = json::array();
    for (const json& value : changed) {
      if (client.all_parameters || client.parameters.contains(value.value("name", ""))) list.push_back(value);
    }
    if (!list.empty()) push(client, parameter_values(list, nullptr));
  }
}

void Clients::begin_request(Id id) {
  const std::lock_guard lock(mutex_);
  int& requests = clients_.at(id).requests;
  if (requests >= kMostRequests) {
    throw Error(Code::kUnsupported, "{} requests of this client are not answered yet; wait for them", requests);
  }
  ++requests;
}

void Clients::end_request(Id id, std::vector<std::string> texts, const std::string& binary) {
  const std::lock_guard lock(mutex_);
  const auto client = clients_.find(id);
  if (client == clients_.end()) return;
  --client->second.requests;
  for (std::string& text : texts) client->second.channel->answer(std::move(text));
  if (!binary.empty()) client->second.channel->answer(binary, /*binary=*/true);
}

}  // namespace trainyard::foxglove
