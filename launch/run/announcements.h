// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace trainyard::launch {

/// A topic that a visitor, a program outside of the plan, publishes at its own socket.
struct Announcement {
  std::string topic;
  std::string schema;     ///< The canonical schema text of the message type.
  std::string endpoint;   ///< The ipc address to which subscribers connect.
  std::string publisher;  ///< The visitor's name, as shown to users, such as "topic pub 12345".
  bool latched = false;   ///< True if a late subscriber receives the last message.
};

/// The topics that visitors (programs outside of the plan) publish. The launcher lists them in its registry (the socket
/// at which it answers questions), so that other programs can find them. The messages never pass through the launcher.
///
/// An announcement is valid for kLease and must be renewed in time, so the topics of a killed visitor disappear soon.
/// Functions that depend on the current time receive it as the argument `now`.
class Announcements {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kLease{5};
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kMostNameBytes = 64;

  /// Adds an announcement, or renews it if there already is one with the same topic and endpoint. Throws
  /// kInvalidArgument if the topic, the schema, the endpoint or the publisher's name is not valid, or if another
  /// visitor publishes the topic. Throws kUnsupported if there are already kMost topics.
  void announce(const Announcement& announcement, Time now);

  /// Removes the announcement of this topic and endpoint, if there is one.
  void withdraw(const std::string& topic, const std::string& endpoint);

  /// Appends the topics whose announcements are valid at the time `now` to `list`, in the form of the registry's list
  /// of topics (docs/wire_format.md).
  void append_to(nlohmann::json& list, Time now);

 private:
  struct Entry {
    Announcement announcement;
    std::string type;
    std::uint64_t fingerprint = 0;
    Time until{};
  };

  void forget_old(Time now);

  std::map<std::string, Entry> entries_;  ///< The announcements, by topic.
};

}  // namespace trainyard::launch
