// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "collectives/agreement.h"
#include "collectives/request.h"
#include "collectives/tcp/links.h"

namespace trainyard::tcp {

using collectives::Request;
using streams::Bytes;

/// The kinds of frames on the control streams.
enum class FrameKind : std::uint32_t {
  kAsked,    ///< The sender has reached operation `number` of the group; the body is its share of a small operation.
  kDone,     ///< Nothing but FrameHead::done and FrameHead::taken.
  kOffer,    ///< Message `number` to the receiver; the body is the message, or empty if it is large.
  kWanted,   ///< The receiver of a large message wants its elements now.
  kChunk,    ///< The next bytes of the large message `number`.
  kFailed,   ///< A failure that the sender has detected: `code`, and its text as the body.
  kPing,     ///< A request for a kPong with the same number.
  kPong,     ///< The answer to a kPing. Request::count and Request::member are an Answer.
  kGoodbye,  ///< The sender leaves the group.
};

/// The beginning of every frame.
struct FrameHead {
  FrameKind kind = FrameKind::kDone;
  std::uint32_t code = 0;
  std::uint64_t number = 0;
  std::uint64_t done = 0;   ///< How many operations of the group the sender has finished.
  std::uint64_t taken = 0;  ///< How many messages from the receiver of this frame the sender has received completely.
  Request request;
};
static_assert(sizeof(FrameHead) == 56);

/// The requests, or messages, of one member that this member has not finished yet, in a ring of slots of a fixed size.
class Slots {
 public:
  /// How many slots there are, and so how many operations a member may be ahead of another.
  static constexpr std::uint64_t kCount = 32;

  explicit Slots(std::size_t bytes) : bytes_(bytes) {}

  /// Stores the request and the body of `number`, which must be the next. Returns false if a member that follows the
  /// rules would not have sent this. `finished` is how many have been finished.
  bool put(std::uint64_t number, std::uint64_t finished, const Request& request, Bytes body);
  /// Returns the request of `number`, or null if it has not come yet.
  const Request* request(std::uint64_t number) const;
  Bytes body(std::uint64_t number) const;

 private:
  struct Slot {
    Request request;
    std::size_t size = 0;
  };

  const std::size_t bytes_;
  std::uint64_t last_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::byte> bodies_;  ///< Allocated when the first one comes.
};

/// What the members of a group tell each other over their control streams. What others may make this member store is
/// limited: a member that sends more than it has been allowed to is refused, and this fails the group.
class Control {
 public:
  /// The largest body of a frame kChunk, and of a small message.
  static constexpr std::size_t kChunkBytes = 64 << 10;
  static constexpr std::size_t kSmallMessageBytes = 16 << 10;

  /// `direct_bytes` is the most that a member sends together with its request.
  Control(Links& links, std::vector<std::uint32_t> ranks, std::size_t direct_bytes);

  /// Returns the limits that the links need for these frames.
  static Links::Limits limits(std::size_t direct_bytes);

  std::uint32_t own() const { return links_.own(); }
  std::uint32_t size() const { return links_.size(); }
  const std::vector<std::uint32_t>& ranks() const { return ranks_; }

  /// Sends what waits, and takes what has come.
  void receive();
  /// Returns a failure that another member has told or has caused by what it sent. Each is returned once.
  std::optional<collectives::Failure> told();
  void tell(const collectives::Failure& failure);

  // The operations of the group.

  /// Returns true if operation `number` of the group may be announced to `member` with a body of `bytes` bytes.
  bool may_ask(std::uint32_t member, std::uint64_t number, std::size_t bytes) const;
  void ask(std::uint32_t member, std::uint64_t number, const Request& request, Bytes body);
  const Slots& asked(std::uint32_t member) const { return peers_[member].asked; }
  /// Records that all operations of the group up to `number` are finished here.
  void finish(std::uint64_t number);

  // The messages between two members.

  bool may_offer(std::uint32_t member, std::uint64_t number, std::size_t bytes) const;
  void offer(std::uint32_t member, std::uint64_t number, const Request& request, Bytes body);
  const Slots& offered(std::uint32_t member) const { return peers_[member].offered; }
  bool is_wanted(std::uint32_t member, std::uint64_t number) const { return peers_[member].wanted >= number; }
  /// Sends the next bytes of a large message. Returns how many were taken, 0 if there is no room.
  std::size_t send_chunk(std::uint32_t member, std::uint64_t number, Bytes bytes);
  /// Lets the elements of the large message `number` come to `into`, which must stay valid until have_all() or
  /// stop_wanting(). Returns false if there is no room yet to tell the member.
  bool want(std::uint32_t member, std::uint64_t number, std::span<std::byte> into);
  bool have_all(std::uint32_t member) const { return peers_[member].incoming.empty(); }
  void stop_wanting(std::uint32_t member) { peers_[member].incoming = {}; }
  /// Records that message `number` of the member has been received completely.
  void take(std::uint32_t member, std::uint64_t number);

  // Who is there.

  collectives::Presence presence(std::uint32_t member);
  /// Returns a number that changes whenever the member moves anything but signs of life.
  std::uint64_t signs(std::uint32_t member) const;
  void answer_with(const collectives::Answer& answer) { answer_ = answer; }
  void ping(std::uint64_t number);
  std::optional<collectives::Answer> answer_to(std::uint64_t number, std::uint32_t member) const;
  void say_goodbye();
  /// Returns true if all members that are still there have received everything that was sent.
  bool all_know(std::uint64_t ping) const;

 private:
  struct Peer {
    Peer(std::size_t direct_bytes) : asked(direct_bytes), offered(kSmallMessageBytes) {}

    Slots asked;
    Slots offered;
    std::uint64_t done = 0;        ///< How many operations of the group the member has finished.
    std::uint64_t taken = 0;       ///< How many messages from here the member has received.
    std::uint64_t told_done = 0;   ///< What the member knows about this member's done.
    std::uint64_t taken_here = 0;  ///< How many messages from the member were received here.
    std::uint64_t told_taken = 0;  ///< What the member knows about this.
    std::uint64_t wanted = 0;      ///< The last large message from here that the member wants.
    std::uint64_t incoming_number = 0;
    std::span<std::byte> incoming;  ///< Where the rest of a large message from the member goes.
    std::uint64_t frames = 0;
    std::uint64_t pong = 0;
    collectives::Answer answer;
    bool left = false;
    bool broken = false;
    std::optional<std::chrono::steady_clock::time_point> data_broken_since;
  };

  void send(std::uint32_t member, FrameHead head, Bytes body = {});
  /// Sends a frame for which there may be no room; it is then dropped, because it will be sent again.
  bool send_if_room(std::uint32_t member, const FrameHead& head);
  bool has_room(std::uint32_t member, std::size_t bytes) const;
  void take_frame(std::uint32_t member, Bytes frame);
  bool handle(std::uint32_t member, const FrameHead& head, Bytes body);
  bool handle_chunk(Peer& peer, std::uint64_t number, Bytes body);
  void refuse(std::uint32_t member, const std::string& why);
  void stop_everything();
  void tell_progress(std::uint32_t member);

  Links& links_;
  const std::vector<std::uint32_t> ranks_;
  std::vector<Peer> peers_;  ///< Indexed by member.
  std::uint64_t done_ = 0;
  collectives::Answer answer_;
  std::optional<collectives::Failure> told_;
};

}  // namespace trainyard::tcp
