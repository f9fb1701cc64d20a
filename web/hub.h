// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "web/gatekeeper.h"
#include "web/server.h"

namespace trainyard::web {

/// One connection of a client, whatever it speaks.
class Connection {
 public:
  virtual ~Connection() = default;
  /// Closes the connection at once, without a farewell.
  virtual void cut() = 0;
};

/// What all connections of a server share: what is served, who may have it, and how many connections there are. Used
/// only on the server's thread, except for the counters.
class Hub {
 public:
  explicit Hub(Settings settings) : settings_(std::move(settings)) {}

  const Settings& settings() const { return settings_; }
  const Limits& limits() const { return settings_.limits; }

  /// Adds a connection that has shown no token yet; cuts the oldest of its kind if there are too many. Returns false if
  /// the server is full.
  bool admit(Connection& guest);
  /// Notes that the connection has shown a token.
  void promote(Connection& connection);
  /// Takes the place of another connection, which is removed later: a WebSocket that was an HTTP connection.
  void replace(Connection& connection);
  void remove(Connection& connection);
  void cut_all();

  // What is served. It does not change after the start.
  Files files;
  std::map<std::string, std::function<Response(const Request&)>> answers;
  std::vector<std::pair<ChannelOptions, MakeHandler>> channels;
  std::optional<Gatekeeper> keeper;

  std::atomic<std::uint64_t> connections{0}, accepted{0}, refused{0}, turned_away{0}, missed{0};

 private:
  Settings settings_;
  std::list<Connection*> guests_;  ///< Oldest first.
  std::list<Connection*> known_;
};

}  // namespace trainyard::web
