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

/// What the members of a group tell each other over their control streams. What others may make this member store is
/// limited: a member that sends more than it has been allowed to is refused, and this fails the group.
class Control {
 public:
  /// `direct_bytes` is the most that a member sends together with its request.
  Control(Links& links, std::vector<std::uint32_t> ranks, std::size_t direct_bytes);
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  /// Returns the limits that the links need for these frames.
  static Links::Limits limits(std::size_t direct_bytes);

  std::uint32_t own() const { return links_.own(); }
  std::uint32_t size() const { return links_.size(); }
  const std::vector<std::uint32_t>& ranks() const { return ranks_; }

  /// Returns another member.
  Peer& with(std::uint32_t member) { return *members_[member].peer; }
  const Peer& with(std::uint32_t member) const { return *members_[member].peer; }

  /// Sends what waits, and takes what has come.
  void receive();
  /// Returns a failure that another member has told or has caused by what it sent. Each is returned once.
  std::optional<collectives::Failure> told();
  void tell(const collectives::Failure& failure);
  /// Records that all operations of the group up to `number` are finished here.
  void finish(std::uint64_t number);

  /// Sets what this member answers to pings.
  void answer_with(const collectives::Answer& answer) { state_.answer = answer; }
  void ping(std::uint64_t number);
  void say_goodbye();
  /// Returns true if all members that are still there have received everything that was sent before `ping`.
  bool all_know(std::uint64_t ping) const;

 private:
  struct Member {
    std::unique_ptr<Peer> peer;  ///< Null for this member itself.
    bool refused = false;        ///< Nothing that it sends is believed any more.
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
