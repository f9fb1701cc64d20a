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

/// A message of the run that is sent to all clients that have subscribed to its topic.
struct News {
  std::string topic;
  /// The name of the output that sent the message. For latched topics, the last message of each output is kept.
  std::string sender;
  bool latched = false;
  std::uint64_t time_ns = 0;
  std::string json;
};

/// The connected clients, and what each of them has subscribed to. Any thread may call all functions.
///
/// A client that reads too slowly misses messages, and is told how many as soon as it reads again. The server limits
/// how much data waits to be sent to a client, so no client costs more memory than this limit.
class Clients {
 public:
  using Id = std::uint64_t;

  /// Adds a client that has connected, and sends it the current offer. `channel` must be valid until remove() is
  /// called.
  Id add(web::Channel& channel, const std::string& server_info);
  void remove(Id id);

  /// Sets the offer of the run, and tells all clients what has changed. A client whose queue has no room for this is
  /// disconnected.
  void set_offer(Offer offer);
  std::vector<std::string> parameter_owners() const;
  /// Returns the service with this number. Throws kNotFound if there is none.
  Service service(std::uint32_t number) const;

  /// Subscribes a client to a channel. `subscription` is the number that the client has chosen. Throws kNotFound if
  /// there is no such channel, and kInvalidArgument if the client already has a subscription with this number or to
  /// this channel.
  void subscribe(Id id, std::uint32_t subscription, std::uint32_t channel);
  void unsubscribe(Id id, std::uint32_t subscription);
  /// Begins (`watch` is true) or ends to tell a client about changes of these parameters; if `names` is empty, of all
  /// parameters.
  void watch_parameters(Id id, const std::vector<std::string>& names, bool watch);
  void watch_graph(Id id, bool watch);

  /// Returns the topics to which at least one client has subscribed. The messages that were kept for other topics are
  /// forgotten.
  std::set<std::string> wanted_topics();
  bool parameters_wanted() const;

  /// Sends a message to its subscribers.
  void publish(News news);
  /// Sends the current time to all clients. A client that has missed messages is also told how many.
  void tell_time(std::uint64_t time_ns);
  /// Sends each parameter that has changed since the last call to the clients that watch it. A parameter that no call
  /// has contained before counts as changed only if `just_set` is true.
  void tell_parameters(const nlohmann::json& values, bool just_set);

  /// Counts one more request of a client that must be passed to the run. Throws kUnsupported if too many of the
  /// client's requests have not been answered yet.
  void begin_request(Id id);
  /// Sends the answer to a request, unless the client has gone.
  void end_request(Id id, std::vector<std::string> texts, const std::string& binary = "");

 private:
  struct Client {
    web::Channel* channel = nullptr;
    std::map<std::uint32_t, std::uint32_t> channels;       ///< The channel of each subscription.
    std::map<std::uint32_t, std::uint32_t> subscriptions;  ///< The subscription to each channel.
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

  mutable std::mutex mutex_;  ///< Protects all members below.
  Offer offer_;
  std::map<Id, Client> clients_;
  Id next_id_ = 0;
  /// The kept messages of latched topics, by topic and output.
  std::map<std::string, std::map<std::string, News>> kept_;
  std::map<std::string, std::string> parameters_;  ///< The last known value of each parameter, as JSON text, by name.
};

}  // namespace trainyard::foxglove
