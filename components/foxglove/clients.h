// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "components/foxglove/offer.h"
#include "web/channel.h"

namespace trainyard::foxglove {

/// A message of the run for all clients that have subscribed to its topic.
struct News {
  std::string topic;
  std::string sender;  ///< Names the output; only the last message of each is kept, and only of latched topics.
  bool latched = false;
  std::uint64_t time_ns = 0;
  std::string json;
};

/// The connected clients, and what each of them wants to be told. Any thread may call all functions.
///
/// A client that reads too slowly misses messages; how many, it is told when it has read. No client costs more memory
/// than the server's limit for what waits to be sent.
class Clients {
 public:
  using Id = std::uint64_t;

  /// Notes that a client has connected, and tells it what there is. `channel` must be valid until remove().
  Id add(web::Channel& channel, const std::string& server_info);
  void remove(Id id);

  /// Tells all clients what has changed. A client that does not read even that is disconnected.
  void set_offer(Offer offer);
  std::vector<std::string> parameter_owners() const;
  /// Returns the service. Throws kNotFound if there is none of this number.
  Service service(std::uint32_t number) const;

  /// Subscribes a client to a channel. Throws kNotFound if there is no such channel, and kInvalidArgument if the client
  /// has a subscription of this number or to this channel.
  void subscribe(Id id, std::uint32_t subscription, std::uint32_t channel);
  void unsubscribe(Id id, std::uint32_t subscription);
  /// Begins or ends to tell a client about parameters; without names, about all.
  void watch_parameters(Id id, const std::vector<std::string>& names, bool watch);
  void watch_graph(Id id, bool watch);

  /// Returns the topics to which clients have subscribed. Last messages of other topics are forgotten.
  std::set<std::string> wanted_topics();
  bool parameters_wanted() const;

  /// Sends a message to its subscribers.
  void publish(News news);
  /// Sends the time to all clients, and tells those that have missed messages how many.
  void tell_time(std::uint64_t time_ns);
  /// Sends the parameters that have changed since the last call to those who watch them. A parameter that was never
  /// told before counts as changed only if `just_set` is true.
  void tell_parameters(const nlohmann::json& values, bool just_set);

  /// Notes that the run is asked something for a client. Throws kUnsupported if too many requests of the client have no
  /// answer yet.
  void begin_request(Id id);
  /// Sends the answer to a request, unless the client has gone.
  void end_request(Id id, std::vector<std::string> texts, const std::string& binary = "");

 private:
  struct Client {
    web::Channel* channel = nullptr;
    std::map<std::uint32_t, std::uint32_t> channels;       ///< By subscription.
    std::map<std::uint32_t, std::uint32_t> subscriptions;  ///< By channel.
    std::set<std::string> parameters;
    bool all_parameters = false;
    bool graph = false;
    int requests = 0;
    std::uint64_t missed = 0, told_missed = 0;
    std::chrono::steady_clock::time_point told{};
  };

  static void push(Client& client, std::string text, bool binary = false);
  void tell_channels(const Offer& before);
  void tell_services(const Offer& before);
  static void must_tell(Client& client, std::string text);
  static void tell_missed(Client& client);
  void send(Client& client, std::uint32_t subscription, const News& news);
  const Channel* find_channel(std::uint32_t id) const;

  mutable std::mutex mutex_;  ///< Protects everything.
  Offer offer_;
  std::map<Id, Client> clients_;
  Id next_id_ = 0;
  std::map<std::string, std::map<std::string, News>> kept_;  ///< By topic and sender.
  std::map<std::string, std::string> parameters_;            ///< The last known values, as texts.
};

}  // namespace trainyard::foxglove
