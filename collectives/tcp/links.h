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

/// The maximum time that a failing member has in order to tell the others the reason: it waits this long before it
/// closes its streams, and the others wait this long before they conclude that it is gone.
inline constexpr std::chrono::milliseconds kLastWords{500};

/// The streams between this member and one other member.
struct Link {
  std::unique_ptr<streams::FrameStream> control;             ///< Control frames, and the data of small operations.
  std::vector<std::unique_ptr<streams::RecordStream>> data;  ///< Streams for bulk data; only between neighbours.

  /// Returns true if the kernel has received the end of every data stream, and therefore everything that was sent
  /// before.
  bool data_ended() const;
  /// Returns true if a data stream has ended or is broken.
  bool data_broken() const;
};

/// The streams of one member. One thread uses them; only wake() may be called by any thread.
///
/// Members connect in two steps. Their first notes contain their settings, the hosts on which they run, and what they
/// need to agree on secrets. Their second notes contain the addresses at which they accept connections. If all members
/// share a loopback interface, they use it, unless the settings name another interface.
class Links {
 public:
  /// The limits of a control stream: the maximum size of a frame, and the maximum number of bytes that wait to be sent.
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

  /// Finds out which streams can be read or written. Waits for the first event, but not longer than `most`. wake() ends
  /// the wait.
  void look(std::chrono::milliseconds most);
  void wake();

 private:
  void connect(const CollectiveContext& context, const Settings& settings, const PairSecrets& secrets,
               const Limits& limits);
  void watch();

  const std::uint32_t own_;
  std::vector<Link> links_;  ///< Indexed by member. The entry of this member itself is empty.
  std::vector<streams::Connection*> watched_;
  streams::Socket epoll_;
  streams::Socket wakeup_;
};

/// Returns true if members `a` and `b` of a group of `size` members exchange bulk data: their numbers are consecutive,
/// or they are the first and the last member.
bool are_neighbours(std::uint32_t a, std::uint32_t b, std::uint32_t size);

}  // namespace trainyard::tcp
