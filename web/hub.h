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

/// One connection of a client, over HTTP or as a WebSocket.
class Connection {
 public:
  virtual ~Connection() = default;
  /// Closes the connection immediately, without informing the client.
  virtual void cut() = 0;
};

/// What all connections of a server share: the files and handlers, the gatekeeper, and the number of connections. Used
/// only on the server's thread, except for the counters.
class Hub {
 public:
  explicit Hub(Settings settings) : settings_(std::move(settings)) {}

  const Settings& settings() const { return settings_; }
  const Limits& limits() const { return settings_.limits; }

  /// Adds a connection that has not presented a token yet. If there are too many connections, in total or without a
  /// token, closes the oldest one without a token. If there is no such connection, does not add the new one and returns
  /// false; the caller must then close the new one.
  bool admit(Connection& guest);
  /// Records that the connection has presented a token.
  void promote(Connection& connection);
  /// Adds a WebSocket connection that takes the place of an HTTP connection. The destructor of the HTTP connection
  /// removes the latter.
  void replace(Connection& connection);
  void remove(Connection& connection);
  void cut_all();

  // What the server serves. It does not change after the server has started.
  Files files;
  std::map<std::string, std::function<Response(const Request&)>> answers;
  std::vector<std::pair<ChannelOptions, MakeHandler>> channels;
  std::optional<Gatekeeper> keeper;

  std::atomic<std::uint64_t> connections{0}, accepted{0}, refused{0}, turned_away{0}, missed{0};

 private:
  Settings settings_;
  std::list<Connection*> guests_;  ///< The connections without a token, the oldest first.
  std::list<Connection*> known_;
};

}  // namespace trainyard::web
