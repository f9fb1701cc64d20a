// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace trainyard::launch {

/// A topic that a visitor publishes at a socket of its own.
struct Announcement {
  std::string topic;
  std::string schema;     ///< The canonical text of the message type.
  std::string endpoint;   ///< Where others subscribe: an ipc address.
  std::string publisher;  ///< A name for users, such as "topic pub 12345".
  bool latched = false;   ///< Whether a late subscriber receives the last message.
};

/// The topics that visitors publish. The registry only says where: messages never pass through the launcher.
///
/// An announcement holds for kLease and must be renewed, so a visitor that was killed vanishes soon. Time is an
/// argument of every function, as the time since any fixed moment.
class Announcements {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kLease{5};
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kMostNameBytes = 64;

  /// Enters an announcement, or renews it if the endpoint is the same. Throws kInvalidArgument if the topic, the
  /// schema, the endpoint or the name is not valid, or if another visitor publishes the topic; and kUnsupported if
  /// there are kMost topics already.
  void announce(const Announcement& announcement, Time now);

  /// Removes the announcement of this topic and endpoint, if there is one.
  void withdraw(const std::string& topic, const std::string& endpoint);

  /// Appends the topics to `list`, in the form of the registry's list of topics (docs/wire_format.md).
  void append_to(nlohmann::json& list, Time now);

 private:
  struct Entry {
    Announcement announcement;
    std::string type;
    std::uint64_t fingerprint = 0;
    Time until{};
  };

  void forget_old(Time now);

  std::map<std::string, Entry> entries_;  ///< By topic.
};

}  // namespace trainyard::launch
