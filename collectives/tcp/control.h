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

/// The control frames that the members of a group exchange. The amount that other members can make this member store is
/// limited: if a member sends more than it has been allowed to, it is refused, and the group fails.
class Control {
 public:
  /// `direct_bytes` is the maximum number of bytes that a member sends together with its request.
  Control(Links& links, std::vector<std::uint32_t> ranks, std::size_t direct_bytes);
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  /// Returns the limits that the links need for these frames.
  static Links::Limits limits(std::size_t direct_bytes);

  std::uint32_t own() const { return links_.own(); }
  std::uint32_t size() const { return links_.size(); }
  const std::vector<std::uint32_t>& ranks() const { return ranks_; }

  /// Returns the exchange with another member.
  Peer& with(std::uint32_t member) { return *members_[member].peer; }
  const Peer& with(std::uint32_t member) const { return *members_[member].peer; }

  /// Sends the frames that wait, and handles the frames that have arrived.
  void receive();
  /// Returns a failure that another member has reported, or that it has caused by violating the protocol. Each failure
  /// is returned once.
  std::optional<collectives::Failure> told();
  void tell(const collectives::Failure& failure);
  /// Records that this member has finished all operations of the group up to `number`.
  void finish(std::uint64_t number);

  /// Sets what this member answers to pings.
  void answer_with(const collectives::Answer& answer) { state_.answer = answer; }
  void ping(std::uint64_t number);
  void say_goodbye();
  /// Returns true if all members that are still there have received everything that was sent before `ping`.
  bool all_know(std::uint64_t ping) const;

 private:
  struct Member {
    std::unique_ptr<Peer> peer;  ///< The exchange with this member; null for this member itself.
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
