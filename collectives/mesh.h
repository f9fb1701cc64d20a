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

/// What a message between two members is about. It is plain data.
struct Tag {
  enum Kind : std::uint8_t {
    kHello,   ///< The connection is ready.
    kAsked,   ///< The sender has come to operation `number`.
    kData,    ///< Elements of the operation, in a numbered stage.
    kDirect,  ///< Elements of a send.
    kFailed,  ///< A failure that the sender has found.
    kPing,    ///< Must be answered by a kPong with the same number.
    kPong,
    kGoodbye,  ///< Nothing will follow.
  };
  std::uint32_t kind = kHello;
  std::uint32_t stage = 0;
  std::uint64_t number = 0;

  friend auto operator<=>(const Tag&, const Tag&) = default;
};

/// A message that has come.
struct Parcel {
  Request request;
  Buffer body;
};

/// The kind of sockets that a mesh uses.
enum class Sockets : std::uint8_t { kIpc, kTcp };

/// A connection between every two members of a group. It keeps messages in order until they are asked for, and notices
/// when a member has left or is lost. libzmq sends and receives in a thread of its own, so nothing here waits except
/// sleep.
///
/// Addresses are exchanged through the rendezvous. `ipc` uses a private folder, which is removed as soon as the group
/// is connected; `tcp` uses the loopback interface. Every message carries a key that only readers of the rendezvous
/// know; other messages are dropped. One thread may use it at a time; only wake() may be called from any thread.
class Mesh {
 public:
  /// Connects. Throws kTimeout, naming those that did not come.
  Mesh(const CollectiveContext& context, Sockets sockets);
  /// Drops what the others have not read yet; see leave().
  ~Mesh();
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  std::uint32_t size() const { return static_cast<std::uint32_t>(presence_.size()); }
  std::uint32_t own() const { return own_; }

  /// Copies the bytes and sends them. What is sent to a member that is gone is dropped.
  void send(std::uint32_t to, const Tag& tag, const Request& request = {}, std::span<const std::byte> body = {});

  /// Takes in what has come, and answers pings.
  void receive();
  bool has(std::uint32_t from, const Tag& tag) const { return find(from, tag) != nullptr; }
  /// The message, which stays here; null if it has not come.
  const Parcel* find(std::uint32_t from, const Tag& tag) const;
  /// Removes and returns the message; empty if it has not come.
  std::optional<Parcel> take(std::uint32_t from, const Tag& tag);

  /// Whether a member is here: it is until it has said goodbye or its connection has broken. What it sent before that
  /// has then arrived.
  Presence presence(std::uint32_t member) const { return presence_[member]; }
  /// The number of messages that have come from a member, not counting pings and their answers.
  std::uint64_t received(std::uint32_t member) const { return received_[member]; }
  /// Sets what is sent with every answer to a ping from now on.
  void answer_pings_with(const Request& answer) { answer_ = answer; }

  /// Sleeps until something has come, until wake(), or for at most `most`.
  void sleep(std::chrono::milliseconds most);
  void wake();

  /// Says goodbye. Returns when all others that are still here have received everything, or after `patience`.
  void leave(std::chrono::milliseconds patience);

 private:
  struct Ends;

  void open(const CollectiveContext& context, Sockets sockets);
  void greet(const CollectiveContext& context);
  void receive_from(std::uint32_t member);

  std::uint32_t own_ = 0;
  std::uint64_t key_ = 0;
  std::vector<Presence> presence_;
  std::map<std::pair<std::uint32_t, Tag>, Parcel> arrived_;
  std::vector<std::uint64_t> received_;  ///< Indexed by member.
  Request answer_;
  std::unique_ptr<Ends> ends_;
};

}  // namespace trainyard::collectives
