// SPDX-License-Identifier: Apache-2.0
#include "streams/meeting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <list>
#include <optional>

#include "messages/error.h"

namespace trainyard::streams {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostStrangers = 64;
constexpr auto kHandshake = 5s;
/// When there are too many connections, a connection that has sent a valid Hello may take this long to confirm it.
constexpr auto kGreeted = 500ms;
/// The time between two attempts to connect.
constexpr auto kRetry = 20ms;
constexpr int kLook = 50;  // The longest wait between two looks at all connections, in milliseconds.

/// Returns true if one of `events` has occurred on the descriptor, without an error.
bool is_ready(int fd, int events) {
  pollfd item{fd, static_cast<short>(events), 0};
  return ::poll(&item, 1, 0) == 1 && (item.revents & events) != 0 && (item.revents & ~events & POLLERR) == 0;
}

/// Receives one message of a handshake, which has a fixed size and may arrive in pieces.
template <class T>
class Incoming {
 public:
  /// Returns the message when it is complete, and nullptr before.
  const T* receive(Connection& connection) {
    while (got_ < sizeof message_) {
      iovec place{reinterpret_cast<std::byte*>(&message_) + got_, sizeof message_ - got_};
      const std::size_t more = connection.read({&place, 1});
      if (more == 0) return nullptr;
      got_ += more;
    }
    return &message_;
  }

 private:
  T message_{};
  std::size_t got_ = 0;
};

/// Sends a message of a handshake. Returns false if the kernel does not accept all of it, which does not normally
/// happen because the socket's send buffer is empty.
template <class T>
bool send_whole(Connection& connection, const T& message) {
  iovec piece{const_cast<T*>(&message), sizeof message};
  return connection.write({&piece, 1}) == sizeof message;
}

/// A connection that this member makes to another member.
struct Outgoing {
  Route route;
  std::optional<Connection> connection;
  std::optional<ConnectingHandshake> handshake;
  Incoming<Answer> answer;
  Incoming<Acknowledgement> acknowledgement;
  bool greeted = false;    ///< True if the Hello has been sent.
  bool confirmed = false;  ///< True if the Confirmation has been sent.
  bool done = false;       ///< True if the other member has admitted the connection.
  Clock::time_point begun{};
  Clock::time_point next{};
};

/// A connection that this member has accepted, from a sender that has not proved yet that it is a member.
struct Stranger {
  Connection connection;
  Clock::time_point until;
  Incoming<Hello> hello;
  std::optional<AcceptingHandshake> handshake;
  Route route;
  Incoming<Confirmation> confirmation;
};

class Meet {
 public:
  Meet(Listener& listener, const Meeting& meeting) : listener_(listener), meeting_(meeting) {
    found_.resize(meeting.peers.size());
    for (std::uint32_t member = 0; member < meeting.peers.size(); ++member) {
      if (member == meeting.own) continue;
      found_[member].resize(meeting.peers[member].streams);
      for (std::uint32_t stream = 0; stream < meeting.peers[member].streams && member < meeting.own; ++stream) {
        outgoing_.push_back({.route = {meeting.own, member, stream}});
      }
    }
  }

  std::vector<std::vector<NewStream>> run() {
    for (const auto until = Clock::now() + meeting_.timeout; !complete();) {
      if (Clock::now() > until) fail();
      wait();
      strangers_.remove_if([&](Stranger& stranger) { return go_on(stranger); });
      for (Outgoing& one : outgoing_) go_on(one);
      accept();
    }
    std::vector<std::vector<NewStream>> streams(found_.size());
    for (std::size_t member = 0; member < found_.size(); ++member) {
      for (auto& stream : found_[member]) streams[member].push_back(std::move(*stream));
    }
    return streams;
  }

 private:
  bool complete() const { return missing().empty(); }

  std::vector<std::string> missing() const {
    std::vector<std::string> names;
    for (std::size_t member = 0; member < found_.size(); ++member) {
      const bool has_all = std::ranges::all_of(found_[member], [](const auto& stream) { return stream.has_value(); });
      if (!has_all) names.push_back(meeting_.peers[member].name);
    }
    return names;
  }

  [[noreturn]] void fail() const {
    std::string text = fmt::format("no connection to {} within {} s", fmt::join(missing(), ", "),
                                   static_cast<double>(meeting_.timeout.count()) / 1000.0);
    if (refused_ > 0) text += fmt::format("; {} connections were refused, the last {}", refused_, last_refusal_);
    throw Error(Code::kTimeout, text);
  }

  void refuse(const std::string& who, const char* why) {
    ++refused_;
    last_refusal_ = fmt::format("{} because {}", who, why);
  }

  // Waits until something happens on any connection. The caller then examines all connections, which is fast enough
  // because there are few and this happens only once.
  void wait() {
    std::vector<pollfd> items{{listener_.fd(), POLLIN, 0}};
    for (const Stranger& stranger : strangers_) items.push_back({stranger.connection.fd(), POLLIN, 0});
    for (const Outgoing& one : outgoing_) {
      if (one.done || !one.connection) continue;
      items.push_back({one.connection->fd(), static_cast<short>(one.greeted ? POLLIN : POLLOUT), 0});
    }
    const bool retries =
        std::ranges::any_of(outgoing_, [](const Outgoing& one) { return !one.done && !one.connection; });
    ::poll(items.data(), items.size(), retries ? static_cast<int>(kRetry.count()) : kLook);
  }

  // Reads from each new connection immediately, so that a member's Hello is noticed before the connection could be
  // closed to make room for others.
  void accept() {
    std::string from;
    for (std::size_t i = 0; i < kMostStrangers && is_ready(listener_.fd(), POLLIN) && make_room(); ++i) {
      Socket socket = listener_.accept(from);
      if (socket.empty()) {
        // If the process has no free descriptor, it must close a connection. Otherwise it could accept none, and poll()
        // would never wait again.
        if ((errno == EMFILE || errno == ENFILE) && !strangers_.empty()) strangers_.pop_front();
        return;
      }
      prepare(socket);
      strangers_.push_back({.connection = Connection(std::move(socket), "the connection from " + from),
                            .until = Clock::now() + kHandshake});
      if (go_on(strangers_.back())) strangers_.pop_back();
    }
  }

  /// If there are too many connections, closes the oldest that has not sent a valid Hello, or else the oldest. Returns
  /// false if all of them have sent a valid Hello and the oldest did so very recently. A stranger can repeat the Hello
  /// of a member, but cannot confirm it, so it takes up a place only for a short time.
  bool make_room() {
    if (strangers_.size() < kMostStrangers) return true;
    auto first = std::ranges::find_if(strangers_, [](const Stranger& stranger) { return !stranger.handshake; });
    if (first == strangers_.end() && Clock::now() + kHandshake < strangers_.front().until + kGreeted) return false;
    if (first == strangers_.end()) first = strangers_.begin();
    refuse(first->connection.name(), "too many others came before it had said who it is");
    strangers_.erase(first);
    return true;
  }

  /// Continues the handshake. Returns true if the connection can be removed from the list, because it was admitted or
  /// refused or is closed.
  bool go_on(Stranger& stranger) {
    stranger.connection.note(EPOLLIN);
    if (!stranger.handshake) {
      const Hello* hello = stranger.hello.receive(stranger.connection);
      if (hello != nullptr && !greet(stranger, *hello)) return true;
    }
    if (stranger.handshake) {
      const Confirmation* confirmation = stranger.confirmation.receive(stranger.connection);
      if (confirmation != nullptr) return admit(stranger, *confirmation);
    }
    const bool late = Clock::now() > stranger.until;
    if (late) refuse(stranger.connection.name(), "it did not say who it is in time");
    return late || stranger.connection.closed();
  }

  bool greet(Stranger& stranger, const Hello& hello) {
    const Route& route = hello.route;
    const bool is_route = AcceptingHandshake::is_hello(hello) && route.to == meeting_.own && route.from > route.to &&
                          route.from < found_.size() && route.stream < found_[route.from].size();
    if (!is_route) {
      refuse(stranger.connection.name(), "it does not speak this protocol");
      return false;
    }
    AcceptingHandshake handshake(meeting_.peers[route.from].secret, meeting_.binding, hello);
    const auto answer = handshake.answer();
    if (!answer || !send_whole(stranger.connection, *answer)) {
      refuse(stranger.connection.name(), "it says that it is a member, but does not know the secret of this group");
      return false;
    }
    stranger.route = route;
    stranger.handshake.emplace(std::move(handshake));
    return true;
  }

  // Admits the connection if its confirmation is valid. Anybody who has seen a member's Hello can repeat it, but only
  // the member can make the confirmation. If the member already has a connection for this stream, the new one replaces
  // it: a member connects again only if it has lost its connection before the acknowledgement arrived.
  bool admit(Stranger& stranger, const Confirmation& confirmation) {
    const Route& route = stranger.route;
    if (!stranger.handshake->confirmed_by(confirmation)) {
      refuse(stranger.connection.name(), "it repeats what a member has said");
      return true;
    }
    if (!send_whole(stranger.connection, stranger.handshake->acknowledgement())) return true;
    found_[route.from][route.stream].emplace(
        NewStream{named(std::move(stranger.connection), route.from, route.stream), stranger.handshake->secrets()});
    return true;
  }

  void go_on(Outgoing& one) {
    if (one.done) return;
    const auto now = Clock::now();
    if (!one.connection) {
      if (now >= one.next) begin(one, now);
      return;
    }
    one.connection->note(EPOLLIN | EPOLLOUT);
    if (!one.greeted) {
      one.greeted = is_ready(one.connection->fd(), POLLOUT) && send_whole(*one.connection, one.handshake->hello());
      if (!one.greeted && is_ready(one.connection->fd(), POLLERR | POLLHUP)) return give_up(one, now);
    }
    if (one.greeted && !one.confirmed) {
      const Answer* answer = one.answer.receive(*one.connection);
      if (answer != nullptr && !confirm(one, *answer)) return give_up(one, now);
    }
    if (one.confirmed) {
      const Acknowledgement* acknowledgement = one.acknowledgement.receive(*one.connection);
      if (acknowledgement != nullptr) return finish(one, *acknowledgement, now);
    }
    // After the Confirmation, only the accepting member decides when it is too late. If this member closed the
    // connection then, the other could have admitted it already, and would keep a stream that nobody uses.
    const bool late = !one.confirmed && now - one.begun > kHandshake;
    if (late || one.connection->closed()) give_up(one, now);
  }

  void begin(Outgoing& one, Clock::time_point now) {
    Socket socket = connect_to(meeting_.peers[one.route.to].endpoint);
    one.next = now + kRetry;
    if (socket.empty()) return;
    prepare(socket);
    one.connection.emplace(std::move(socket), "");
    one.handshake.emplace(meeting_.peers[one.route.to].secret, meeting_.binding, one.route);
    one.answer = {};
    one.acknowledgement = {};
    one.greeted = one.confirmed = false;
    one.begun = now;
  }

  void give_up(Outgoing& one, Clock::time_point now) {
    one.connection.reset();
    one.next = now + kRetry;
  }

  // Sends the Confirmation. Returns false if the answer is not valid, or if the connection has been lost.
  bool confirm(Outgoing& one, const Answer& answer) {
    const auto confirmation = one.handshake->confirm(answer);
    if (!confirmation) {
      refuse("the answer of " + meeting_.peers[one.route.to].endpoint, "it does not know the secret of this group");
      return false;
    }
    one.confirmed = send_whole(*one.connection, *confirmation);
    return one.confirmed;
  }

  void finish(Outgoing& one, const Acknowledgement& acknowledgement, Clock::time_point now) {
    if (!one.handshake->acknowledged_by(acknowledgement)) {
      refuse("the acknowledgement of " + meeting_.peers[one.route.to].endpoint,
             "it does not know the secret of this group");
      return give_up(one, now);
    }
    one.done = true;
    found_[one.route.to][one.route.stream].emplace(
        NewStream{named(std::move(*one.connection), one.route.to, one.route.stream), one.handshake->secrets()});
    one.connection.reset();
  }

  Connection named(Connection connection, std::uint32_t member, std::uint32_t stream) const {
    return std::move(connection).renamed(fmt::format("stream {} of {}", stream, meeting_.peers[member].name));
  }

  Listener& listener_;
  const Meeting& meeting_;
  /// The streams that have been made, by member and stream.
  std::vector<std::vector<std::optional<NewStream>>> found_;
  std::vector<Outgoing> outgoing_;
  std::list<Stranger> strangers_;  ///< In the order in which they arrived.
  std::uint64_t refused_ = 0;
  std::string last_refusal_;
};

}  // namespace

std::vector<std::vector<NewStream>> meet(Listener& listener, const Meeting& meeting) {
  return Meet(listener, meeting).run();
}

}  // namespace trainyard::streams
