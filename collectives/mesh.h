// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/agreement.h"
#include "collectives/collective.h"
#include "collectives/request.h"
#include "messages/buffer.h"

namespace trainyard::collectives {

/// Identifies a message between two members of a group. Every message contains its tag.
struct Tag {
  enum Kind : std::uint8_t {
    kHello,    ///< The connection is ready.
    kAsked,    ///< The sender has called the collective operation with Operation::order `number`.
    kData,     ///< Elements of the collective operation `number`, in step `stage` of its transfer.
    kDirect,   ///< Elements of the send() with Operation::order `number` from the sender to the receiver.
    kFailed,   ///< A failure that the sender has detected.
    kPing,     ///< A request for a kPong with the same number.
    kPong,     ///< The answer to a kPing, with the same number.
    kGoodbye,  ///< The sender leaves the group and sends no more elements or requests.
  };
  std::uint32_t kind = kHello;
  std::uint32_t stage = 0;
  std::uint64_t number = 0;

  friend auto operator<=>(const Tag&, const Tag&) = default;
};

/// A received message, without its tag.
struct Parcel {
  Request request;
  Buffer body;
};

/// The kind of sockets that a mesh uses: Unix sockets in a folder that only this user can read, or TCP on the loopback
/// interface, encrypted (CURVE), with keys that the members of the group exchange.
enum class Sockets : std::uint8_t { kIpc, kTcp };

/// Connects one member of a group with every other member through ZeroMQ sockets. A mesh stores each message that
/// arrives until take() removes it, and detects when a member has left or is lost. ZeroMQ sends and receives on a
/// separate thread, so only the constructor, sleep() and leave() ever wait.
///
/// Members find each other's addresses through notes (small files that only this user can read; see core/rendezvous).
/// The folder with the Unix sockets is removed as soon as the group is connected. Every message contains a secret key
/// that members also exchange through notes; messages without this key are discarded. Only one thread at a time may use
/// a mesh, except that wake() may be called by any thread.
class Mesh {
 public:
  /// Connects to all other members. Throws kTimeout, naming the members that did not connect.
  Mesh(const CollectiveContext& context, Sockets sockets);
  /// Discards the messages that the other members have not received yet; see leave().
  ~Mesh();
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  std::uint32_t size() const { return static_cast<std::uint32_t>(presence_.size()); }
  std::uint32_t own() const { return own_; }

  /// Sends `tag`, `request` and the bytes of `body` to member `to`. The bytes are copied. A message to a member that is
  /// lost is discarded.
  void send(std::uint32_t to, const Tag& tag, const Request& request = {}, std::span<const std::byte> body = {});

  /// Receives the messages that have arrived, without waiting, and answers pings.
  void receive();
  bool has(std::uint32_t from, const Tag& tag) const { return find(from, tag) != nullptr; }
  /// Returns the message of member `from` with this tag, without removing it, or null if it has not arrived.
  const Parcel* find(std::uint32_t from, const Tag& tag) const;
  /// Removes and returns the message of member `from` with this tag, or returns nothing if it has not arrived.
  std::optional<Parcel> take(std::uint32_t from, const Tag& tag);

  /// Returns whether a member is still there. A member has left if its goodbye (Tag::kGoodbye) has arrived, and is lost
  /// if its connection has broken without a goodbye. In both cases, everything that the member sent before then has
  /// arrived.
  Presence presence(std::uint32_t member) const { return presence_[member]; }
  /// Returns the number of messages received from a member, not counting pings and their answers.
  std::uint64_t received(std::uint32_t member) const { return received_[member]; }
  /// Sets the Request that is sent along with the answers to later pings.
  void answer_pings_with(const Request& answer) { answer_ = answer; }

  /// Sleeps until a message arrives, a connection breaks or wake() is called, but no longer than `most`.
  void sleep(std::chrono::milliseconds most);
  /// Ends sleep() or, if the mesh is not sleeping, the next call to sleep(). Any thread may call this.
  void wake();

  /// Sends a goodbye to all other members. Waits until all members that are still there have received every message,
  /// but no longer than `patience`.
  void leave(std::chrono::milliseconds patience);

 private:
  struct Ends;

  void open(const CollectiveContext& context);
  void greet(const CollectiveContext& context);
  void receive_from(std::uint32_t member);

  std::uint32_t own_ = 0;
  std::uint64_t key_ = 0;
  std::vector<Presence> presence_;
  std::map<std::pair<std::uint32_t, Tag>, Parcel> arrived_;
  /// The number of messages received from each member, other than pings and pongs.
  std::vector<std::uint64_t> received_;
  Request answer_;
  std::unique_ptr<Ends> ends_;
};

}  // namespace trainyard::collectives
