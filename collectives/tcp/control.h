// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/agreement.h"
#include "collectives/tcp/links.h"
#include "collectives/tcp/peer.h"

namespace trainyard::tcp {

/// Sends and receives the frames (requests, the data of small operations, messages, pings) that one member of a group
/// ("this member") exchanges with all others over the control streams. The amount of data from another member that this
/// member has not processed yet is limited. If a member exceeds the limit, or violates the protocol in another way, the
/// group fails, and the later frames of that member are ignored.
class Control {
 public:
  /// `direct_bytes` is the maximum number of bytes of elements that a member sends together with the announcement of a
  /// small operation.
  Control(Links& links, std::vector<std::uint32_t> ranks, std::size_t direct_bytes);
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  /// Returns the limits with which Links must be constructed.
  static Links::Limits limits(std::size_t direct_bytes);

  std::uint32_t own() const { return links_.own(); }
  std::uint32_t size() const { return links_.size(); }
  const std::vector<std::uint32_t>& ranks() const { return ranks_; }

  /// Returns the state of the communication with another member.
  Peer& with(std::uint32_t member) { return *members_[member].peer; }
  const Peer& with(std::uint32_t member) const { return *members_[member].peer; }

  /// Sends frames that are still queued, and handles the frames that have arrived. Does not wait.
  void receive();
  /// Returns a failure that another member has reported, or that another member has caused by violating the protocol.
  /// Returns nothing if there is none. Returns each failure only once.
  std::optional<collectives::Failure> told();
  /// Reports a failure to all other members.
  void tell(const collectives::Failure& failure);
  /// Records that this member has finished all collective operations up to `number`, and calls Line::tell_progress()
  /// for every other member.
  void finish(std::uint64_t number);

  /// Sets this member's answer to pings.
  void answer_with(const collectives::Answer& answer) { state_.answer = answer; }
  /// Sends a ping with this number to all other members.
  void ping(std::uint64_t number);
  void say_goodbye();
  /// Returns true if all members that are still there have answered the most recent ping, whose number is `ping`, and
  /// so have received everything that was sent before it. Members whose frames are ignored do not count.
  bool all_know(std::uint64_t ping) const;

 private:
  struct Member {
    std::unique_ptr<Peer> peer;  ///< Null in the entry of the member to which this object belongs.
    bool refused = false;        ///< True if the member has violated the protocol. All its later frames are ignored.
  };

  void receive_from(std::uint32_t member);
  void take_frame(std::uint32_t member, Bytes frame);
  bool take_failure(const FrameHead& head, Bytes text);
  void refuse(std::uint32_t member, const std::string& why);
  void stop_everything();

  Links& links_;
  const std::vector<std::uint32_t> ranks_;
  OwnState state_;
  std::vector<Member> members_;
  std::optional<collectives::Failure> told_;
};

}  // namespace trainyard::tcp
