// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "collectives/collective.h"
#include "collectives/tcp/pair_secrets.h"
#include "collectives/tcp/settings.h"
#include "streams/frame_stream.h"
#include "streams/record_stream.h"

namespace trainyard::tcp {

/// How long a failing member may take to tell the others the reason. It waits at most this long before it closes its
/// streams. When a stream breaks, the other members wait equally long before they conclude that the member is gone.
inline constexpr std::chrono::milliseconds kLastWords{500};

/// The TCP streams between a member and one other member of its group.
struct Link {
  std::unique_ptr<streams::FrameStream> control;  ///< For requests, pings, messages and the data of small operations.
  /// For bulk data; empty if the two members are not neighbours.
  std::vector<std::unique_ptr<streams::RecordStream>> data;

  /// Returns true if every data stream has ended. All data that the other member sent has then arrived.
  bool data_ended() const;
  /// Returns true if a data stream has ended or is broken.
  bool data_broken() const;
};

/// The TCP streams between one member and all other members of its group. Only one thread at a time may use the object,
/// except that any thread may call wake().
///
/// To connect, the members exchange their settings, the identities of their loopback interfaces, and the addresses at
/// which they accept connections, through the rendezvous (files in the run directory). If all members share a loopback
/// interface, they use it, unless the settings name another interface.
class Links {
 public:
  /// The limits of a control stream: the maximum size of a frame, and the capacity of the send queue.
  struct Limits {
    std::size_t frame_bytes;
    std::size_t queue_bytes;
  };

  /// Connects the members. Throws kTimeout, naming the members with which there is no connection; kInvalidArgument,
  /// naming two members, if their settings differ; and what PairSecrets, Listener and address_of_interface() throw.
  Links(const CollectiveContext& context, std::uint32_t own, const Settings& settings, const PairSecrets& secrets,
        const Limits& limits);
  ~Links();
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  std::uint32_t own() const { return own_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(links_.size()); }
  Link& with(std::uint32_t member) { return links_[member]; }
  const Link& with(std::uint32_t member) const { return links_[member]; }

  /// Waits until a stream becomes readable or writable, or until wake() is called, but no longer than `most`. Records
  /// which streams can be read or written.
  void look(std::chrono::milliseconds most);
  void wake();

 private:
  void connect(const CollectiveContext& context, const Settings& settings, const PairSecrets& secrets,
               const Limits& limits);
  void watch();

  const std::uint32_t own_;
  std::vector<Link> links_;  ///< Indexed by member. The entry at own_ is empty.
  std::vector<streams::Connection*> watched_;
  streams::Socket epoll_;
  streams::Socket wakeup_;
};

/// Returns true if members `a` and `b` of a group of `size` members exchange bulk data: their numbers are consecutive,
/// or they are the first and the last member.
bool are_neighbours(std::uint32_t a, std::uint32_t b, std::uint32_t size);

}  // namespace trainyard::tcp
