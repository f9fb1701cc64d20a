// SPDX-License-Identifier: Apache-2.0
#include "collectives/mesh.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <set>
#include <zmq.hpp>

#include "core/files/socket_folder.h"
#include "core/rendezvous/rendezvous.h"
#include "core/transport/frames.h"
#include "core/transport/run_keys.h"
#include "core/transport/socket_monitor.h"
#include "messages/error.h"

namespace trainyard::collectives {
namespace {

using Clock = std::chrono::steady_clock;

/// The first frame of every message.
struct MeshHeader {
  std::uint64_t key = 0;
  Tag tag;
  Request request;
};
static_assert(sizeof(MeshHeader) == 48);

std::uint64_t random_key() {
  std::uint64_t key = 0;
  if (::getrandom(&key, sizeof key, 0) != sizeof key)
    throw Error(Code::kIo, "the kernel gives no random numbers: {}", std::strerror(errno));
  return key;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

/// The sockets of a mesh, with their connections.
struct Mesh::Ends {
  zmq::context_t zmq{1};
  int wakeup = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const Sockets kind;
  /// The key pair of this member's sockets, for this group only; empty unless `kind` is kTcp.
  const core::RunKeys keys;
  // Indexed by member; the entry of this member itself is empty. A PAIR socket accepts only one peer.
  std::vector<zmq::socket_t> data;
  std::vector<zmq::socket_t> monitors;
  /// The descriptors of the connections that have broken. A descriptor is removed when a new connection gets it.
  std::vector<std::set<int>> broken;
  /// With kTcp: the descriptor of the connection to the member, once a message has arrived.
  std::vector<std::optional<int>> connection;

  Ends(std::uint32_t members, Sockets sockets)
      : kind(sockets),
        keys(sockets == Sockets::kTcp ? core::RunKeys::make() : core::RunKeys{}),
        data(members),
        monitors(members),
        broken(members),
        connection(members) {}
  ~Ends() { ::close(wakeup); }

  void add(std::uint32_t member) {
    data[member] = core::make_socket(zmq, zmq::socket_type::pair);
    data[member].set(zmq::sockopt::maxmsgsize, std::int64_t{-1});
    // This socket must never reconnect, because a lost member stays lost. The interval is a day rather than -1 (no
    // reconnection), because with -1 libzmq drops messages that arrived before the connection broke.
    data[member].set(zmq::sockopt::reconnect_ivl, 24 * 3600 * 1000);
    constexpr int kEvents = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_CONNECTED | ZMQ_EVENT_DISCONNECTED;
    monitors[member] = core::monitor_of(zmq, data[member], kEvents);
  }

  /// Binds the socket for a member and returns its address. Over TCP, every user of the host can connect, but only who
  /// knows the public key, which is published through notes, can complete the handshake. Before that, libzmq does not
  /// let a connection become the peer of the socket.
  std::string bind(std::uint32_t member, const std::string& address) {
    if (kind == Sockets::kTcp) {
      data[member].set(zmq::sockopt::curve_server, true);
      data[member].set(zmq::sockopt::curve_secretkey, keys.secret_key);
    }
    return core::bind_socket(data[member], address);
  }

  void connect(std::uint32_t member, const std::string& address, const std::string& public_key) {
    if (kind == Sockets::kTcp) {
      data[member].set(zmq::sockopt::curve_serverkey, public_key);
      data[member].set(zmq::sockopt::curve_publickey, keys.public_key);
      data[member].set(zmq::sockopt::curve_secretkey, keys.secret_key);
    }
    data[member].connect(address);
  }

  /// Notes through which connection a message of a member has arrived.
  void note_connection(std::uint32_t member, zmq::message_t& frame) {
    if (kind == Sockets::kTcp && !connection[member]) connection[member] = frame.get(ZMQ_SRCFD);
  }

  /// Reads the events of a member's socket. Returns true if the connection to the member has broken. Over TCP, other
  /// connections do not count, because they belong to strangers.
  bool is_broken(std::uint32_t member) {
    while (const auto event = core::next_event(monitors[member])) {
      if (event->number == ZMQ_EVENT_DISCONNECTED) {
        broken[member].insert(event->value);
      } else {
        broken[member].erase(event->value);
      }
    }
    if (kind == Sockets::kIpc) return !broken[member].empty();
    return connection[member] && broken[member].contains(*connection[member]);
  }
};

Mesh::Mesh(const CollectiveContext& context, Sockets sockets)
    : presence_(context.ranks.size(), Presence::kHere),
      received_(context.ranks.size()),
      ends_(std::make_unique<Ends>(size(), sockets)) {
  own_ = static_cast<std::uint32_t>(std::ranges::find(context.ranks, context.rank) - context.ranks.begin());
  open(context);
}

// In each pair of members, the one with the lower index binds. Each member publishes its part of the key, the public
// key of its sockets, and the addresses at which members with higher indices can connect.
void Mesh::open(const CollectiveContext& context) {
  std::optional<core::SocketFolder> folder;
  if (ends_->kind == Sockets::kIpc) folder.emplace(context.where);
  std::string note = fmt::format("{}\n{}\n", random_key(), ends_->keys.public_key);
  for (std::uint32_t member = 0; member < size(); ++member) {
    if (member != own_) ends_->add(member);
    if (member <= own_) continue;
    const std::string wanted = folder ? fmt::format("ipc://{}/{}", folder->path(), member) : "tcp://127.0.0.1:*";
    note += ends_->bind(member, wanted) + "\n";
  }
  const auto notes =
      core::exchange(*context.rendezvous, context.name + "/mesh", context.rank, context.ranks, note, context.timeout);
  for (std::uint32_t member = 0; member < size(); ++member) {
    const std::vector<std::string> lines = lines_of(notes[member]);
    std::uint64_t part = 0;
    std::from_chars(lines.at(0).data(), lines.at(0).data() + lines.at(0).size(), part);
    key_ ^= part;
    if (member < own_) ends_->connect(member, lines.at(1 + own_ - member), lines.at(1));
  }
  greet(context);
}

// The member that connects sends first, because the member that binds has no peer until then.
void Mesh::greet(const CollectiveContext& context) {
  const Tag hello{.kind = Tag::kHello};
  for (std::uint32_t member = 0; member < own_; ++member) send(member, hello);
  std::vector<bool> greeted(size());
  for (const auto until = Clock::now() + context.timeout;;) {
    receive();
    std::vector<std::uint32_t> missing;
    for (std::uint32_t member = 0; member < size(); ++member) {
      if (member == own_ || greeted[member]) continue;
      greeted[member] = take(member, hello).has_value();
      if (!greeted[member]) missing.push_back(context.ranks[member]);
      if (greeted[member] && member > own_) send(member, hello);
    }
    if (missing.empty()) return;
    if (Clock::now() > until) {
      throw Error(Code::kTimeout, "{}: no connection to {} within {} s", context.where, name_ranks(missing),
                  context.timeout.count() / 1000.0);
    }
    sleep(std::chrono::milliseconds(50));
  }
}

// Messages that the others have not received by now are no longer needed.
Mesh::~Mesh() {
  for (zmq::socket_t& socket : ends_->data) {
    if (socket) socket.set(zmq::sockopt::linger, 0);
  }
}

// Messages arrive in the order in which they were sent, so a member that answers the ping has received everything
// before it.
void Mesh::leave(std::chrono::milliseconds patience) {
  const std::uint64_t last = ~std::uint64_t{0};
  for (std::uint32_t member = 0; member < size(); ++member) {
    if (member == own_) continue;
    send(member, {.kind = Tag::kGoodbye});
    send(member, {Tag::kPing, 0, last});
  }
  for (const auto until = Clock::now() + patience; Clock::now() < until;) {
    receive();
    bool all_know = true;
    for (std::uint32_t member = 0; member < size(); ++member) {
      all_know &= member == own_ || presence_[member] != Presence::kHere || has(member, {Tag::kPong, 0, last});
    }
    if (all_know) return;
    sleep(std::chrono::milliseconds(10));
  }
}

void Mesh::send(std::uint32_t to, const Tag& tag, const Request& request, std::span<const std::byte> body) {
  if (presence_[to] == Presence::kLost) return;
  const MeshHeader header{key_, tag, request};
  std::vector<zmq::message_t> frames;
  frames.emplace_back(&header, sizeof header);
  if (!body.empty()) frames.emplace_back(body.data(), body.size());
  core::send_frames(ends_->data[to], frames);
}

// ZeroMQ reports a broken connection only after it has queued the last message of the member. So if the connection is
// broken, the function reads all messages, and only then marks the member as lost. The messages before that show which
// connection is that of the member.
void Mesh::receive() {
  for (std::uint32_t member = 0; member < size(); ++member) {
    if (member == own_) continue;
    receive_from(member);
    if (!ends_->is_broken(member) || presence_[member] != Presence::kHere) continue;
    receive_from(member);
    if (presence_[member] == Presence::kHere) presence_[member] = Presence::kLost;
  }
}

void Mesh::receive_from(std::uint32_t member) {
  core::Frames frames;
  while (core::receive_frames(ends_->data[member], frames)) {
    MeshHeader header;
    if (frames.empty() || frames[0].size() != sizeof header) continue;
    std::memcpy(&header, frames[0].data(), sizeof header);
    if (header.key != key_) continue;
    ends_->note_connection(member, frames[0]);
    if (header.tag.kind != Tag::kPing && header.tag.kind != Tag::kPong) ++received_[member];
    if (header.tag.kind == Tag::kPing) {
      send(member, {Tag::kPong, 0, header.tag.number}, answer_);
    } else if (header.tag.kind == Tag::kGoodbye) {
      presence_[member] = Presence::kLeft;
    } else {
      Parcel parcel{header.request, {}};
      if (frames.size() > 1) parcel.body = core::buffer_of(std::move(frames[1]));
      arrived_.insert_or_assign({member, header.tag}, std::move(parcel));
    }
  }
}

const Parcel* Mesh::find(std::uint32_t from, const Tag& tag) const {
  const auto found = arrived_.find({from, tag});
  return found == arrived_.end() ? nullptr : &found->second;
}

std::optional<Parcel> Mesh::take(std::uint32_t from, const Tag& tag) {
  const auto found = arrived_.find({from, tag});
  if (found == arrived_.end()) return {};
  std::optional<Parcel> parcel(std::move(found->second));
  arrived_.erase(found);
  return parcel;
}

void Mesh::sleep(std::chrono::milliseconds most) {
  std::vector<zmq::pollitem_t> items{{nullptr, ends_->wakeup, ZMQ_POLLIN, 0}};
  for (std::uint32_t member = 0; member < size(); ++member) {
    if (member == own_) continue;
    if (presence_[member] != Presence::kLost) items.push_back({ends_->data[member].handle(), 0, ZMQ_POLLIN, 0});
    items.push_back({ends_->monitors[member].handle(), 0, ZMQ_POLLIN, 0});
  }
  if (zmq_poll(items.data(), static_cast<int>(items.size()), most.count()) < 0 && zmq_errno() != EINTR) {
    throw Error(Code::kIo, "cannot wait for messages: {}", zmq_strerror(zmq_errno()));
  }
  std::uint64_t count = 0;
  [[maybe_unused]] const auto ignored = ::read(ends_->wakeup, &count, sizeof count);
}

void Mesh::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto ignored = ::write(ends_->wakeup, &one, sizeof one);
}

}  // namespace trainyard::collectives
