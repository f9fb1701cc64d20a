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

/// A message of the run, which is sent to all clients that have subscribed to its topic.
struct News {
  std::string topic;
  /// A text that identifies the component that sent the message. For latched topics (OutputOptions::latched), the last
  /// message of each sender is kept for clients that subscribe later.
  std::string sender;
  bool latched = false;
  std::uint64_t time_ns = 0;
  std::string json;
};

/// The connected Foxglove clients, and what each of them has subscribed to. Any thread may call any function.
///
/// The server limits the amount of data that waits to be sent to each client. A client that reads too slowly therefore
/// misses messages. It is told how many as soon as it reads again.
class Clients {
 public:
  using Id = std::uint64_t;

  /// Adds a client that has connected, and sends it `server_info` (the first message of the protocol; see
  /// server_info()), the current topics and, if the client may change the run, the current services. `channel` must be
  /// valid until remove() is called.
  Id add(web::Channel& channel, const std::string& server_info);
  void remove(Id id);

  /// Sets the topics, services and parameters of the run, and tells all clients what has changed. A client whose queue
  /// has no room for this is disconnected; it can connect again.
  void set_offer(Offer offer);
  /// Returns the names of all components, each of which may have parameters.
  std::vector<std::string> parameter_owners() const;
  /// Returns the service with the id `number`. Throws kNotFound if there is none.
  Service service(std::uint32_t number) const;

  /// Subscribes a client to the topic with the id `channel`, and sends it the kept messages of the topic (see
  /// News::sender). `subscription` is a number that the client has chosen for the subscription. Throws kNotFound if
  /// there is no such topic, and kInvalidArgument if the client already has a subscription with this number or to this
  /// topic.
  void subscribe(Id id, std::uint32_t subscription, std::uint32_t channel);
  void unsubscribe(Id id, std::uint32_t subscription);
  /// If `watch` is true, begins to send a client every change of the parameters `names`; otherwise stops doing so. An
  /// empty `names` stands for all parameters. Throws kUnsupported if the client would watch more than 4,096 names;
  /// those before the first that is too many are then watched.
  void watch_parameters(Id id, const std::vector<std::string>& names, bool watch);
  /// If `watch` is true, sends a client the graph of topics, services and components, and from then on every change of
  /// the graph; otherwise stops doing so.
  void watch_graph(Id id, bool watch);

  /// Returns the topics to which at least one client is subscribed, and deletes the kept messages of all other topics.
  std::set<std::string> wanted_topics();
  /// Returns true if a client wants to be told about changes of parameters.
  bool parameters_wanted() const;

  /// Sends a message to the clients that have subscribed to its topic.
  void publish(News news);
  /// Sends the time `time_ns` to all clients, and tells each client that has missed messages how many it has missed.
  void tell_time(std::uint64_t time_ns);
  /// `values` contains parameters with their current values. Sends each client the parameters that it watches and whose
  /// values have changed since the last call that contained them. A parameter that no earlier call contained is sent
  /// only if `just_set` is true, that is, if a client has just set these parameters.
  void tell_parameters(const nlohmann::json& values, bool just_set);

  /// Records that a request of this client is passed to the run. Each call must be followed by one of end_request(),
  /// even if the request fails. Throws kUnsupported if too many requests of the client have not been answered yet.
  void begin_request(Id id);
  /// Records that a request has been answered, and sends the answer unless the client has disconnected: each of the
  /// `texts`, and `binary` unless it is empty.
  void end_request(Id id, std::vector<std::string> texts, const std::string& binary = "");

 private:
  struct Client {
    web::Channel* channel = nullptr;
    std::map<std::uint32_t, std::uint32_t> channels;       ///< The topic id of each subscription.
    std::map<std::uint32_t, std::uint32_t> subscriptions;  ///< The subscription for each topic id.
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
  /// The kept messages of latched topics, by topic and News::sender.
  std::map<std::string, std::map<std::string, News>> kept_;
  std::map<std::string, std::string> parameters_;  ///< The last known value of each parameter, as JSON text, by name.
};

}  // namespace trainyard::foxglove
