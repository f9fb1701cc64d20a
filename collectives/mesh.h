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

/// What a message between two members is about. Plain data.
struct Tag {
  enum Kind : std::uint8_t {
    kHello,   ///< The connection stands.
    kAsked,   ///< The sender has come to operation `number`.
    kData,    ///< Elements of it, in a numbered stage.
    kDirect,  ///< A send.
    kFailed,  ///< What the sender has found out.
    kPing,    ///< To be answered by a kPong with the same number.
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

/// What the sockets of a mesh are.
enum class Sockets : std::uint8_t { kIpc, kTcp };

/// A connection between every two members of a group: messages in order, kept until they are asked for, and the news
/// that a member has left or is lost. libzmq sends and receives in a thread of its own, so nothing here waits but
/// sleep.
///
/// Addresses go through the rendezvous. `ipc` lies in a private folder, gone as soon as the group stands; `tcp` is the
/// loopback interface. Every message carries a key that only readers of the rendezvous know; others are dropped.
/// One thread at a time; only wake() may be called from any.
class Mesh {
 public:
  /// Connects. Throws kTimeout naming those that did not come.
  Mesh(const CollectiveContext& context, Sockets sockets);
  /// Drops what the others have not read yet; see leave().
  ~Mesh();
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  std::uint32_t size() const { return static_cast<std::uint32_t>(presence_.size()); }
  std::uint32_t own() const { return own_; }

  /// Copies the bytes. What is sent to a member that is gone is dropped.
  void send(std::uint32_t to, const Tag& tag, const Request& request = {}, std::span<const std::byte> body = {});

  /// Takes in what has come; answers pings.
  void receive();
  bool has(std::uint32_t from, const Tag& tag) const { return find(from, tag) != nullptr; }
  /// The message, which stays here; null if it has not come.
  const Parcel* find(std::uint32_t from, const Tag& tag) const;
  /// The message, which is forgotten here; nothing if it has not come.
  std::optional<Parcel> take(std::uint32_t from, const Tag& tag);

  /// True until a member has said goodbye or its connection has broken. What it sent before that is here by then.
  Presence presence(std::uint32_t member) const { return presence_[member]; }
  /// How many messages have come from a member, other than pings and their answers.
  std::uint64_t received(std::uint32_t member) const { return received_[member]; }
  /// What goes with every answer to a ping from now on.
  void answer_pings_with(const Request& answer) { answer_ = answer; }

  /// Returns when something has come, after wake(), or when the time is over.
  void sleep(std::chrono::milliseconds most);
  void wake();

  /// Says goodbye, and returns when all others that are still here have got everything, or after `patience`.
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
  std::vector<std::uint64_t> received_;  ///< By member.
  Request answer_;
  std::unique_ptr<Ends> ends_;
};

}  // namespace trainyard::collectives
