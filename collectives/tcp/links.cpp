// SPDX-License-Identifier: Apache-2.0
#include "collectives/tcp/links.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "messages/error.h"
#include "messages/printable.h"
#include "streams/meeting.h"

namespace trainyard::tcp {
namespace {

constexpr const char* kLoopback = "127.0.0.1";
constexpr std::size_t kEvents = 64;

/// Returns a text that identifies the loopback interface of this process. Containers on one host have different ones.
std::string loopback_identity() {
  std::error_code error;
  const auto space = std::filesystem::read_symlink("/proc/self/ns/net", error);
  return host_identity() + " " + space.string();
}

/// Exchanges a text with the other members, and returns the texts of all members.
std::vector<std::string> tell_all(const CollectiveContext& context, const std::string& what, const std::string& text) {
  return core::exchange(*context.rendezvous, context.name + what, context.rank, context.ranks, text, context.timeout);
}

void check_settings(const CollectiveContext& context, const std::vector<std::string>& settings) {
  for (std::size_t member = 1; member < settings.size(); ++member) {
    if (settings[member] == settings[0]) continue;
    throw Error(Code::kInvalidArgument, "{}: the parameters of the ranks differ: rank {} has {}, rank {} has {}",
                context.where, context.ranks[0], printable_line(settings[0]), context.ranks[member],
                printable_line(settings[member]));
  }
}

/// Returns the address at which this member accepts connections.
std::string own_address(const CollectiveContext& context, const Settings& settings) {
  const auto places = tell_all(context, "/tcp.places", loopback_identity());
  if (settings.interface != kAutomatic) return streams::address_of_interface(settings.interface);
  const bool on_one_host = std::ranges::all_of(places, [&](const auto& place) { return place == places.front(); });
  return on_one_host ? kLoopback : streams::address_of_any_interface();
}

/// Binds the keys of the streams to the name, the ranks and the settings of this group, so that they are useless for
/// anything else. (The secrets are new in every group, so this is a second line of defence.)
streams::Binding binding_of(const CollectiveContext& context, const std::string& settings) {
  const std::string ranks = collectives::name_ranks(context.ranks);
  return streams::binding_of(std::array<std::string_view, 4>{"collective tcp", context.name, ranks, settings});
}

/// Discards the data that has arrived on a socket. Returns true if there was any and the socket is still open, so that
/// more may arrive.
bool discard(int fd) {
  std::array<char, 16384> bytes;
  for (bool any = false;; any = true) {
    const ssize_t got = ::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got <= 0) return any && got < 0 && errno == EAGAIN;
  }
}

}  // namespace

bool are_neighbours(std::uint32_t a, std::uint32_t b, std::uint32_t size) {
  const std::uint32_t distance = std::max(a, b) - std::min(a, b);
  return distance == 1 || distance + 1 == size;
}

bool Link::data_ended() const {
  return std::ranges::all_of(data, [](const auto& stream) { return stream->connection().ending(); });
}

bool Link::data_broken() const {
  return std::ranges::any_of(data, [](const auto& stream) { return stream->connection().ending(); });
}

Links::Links(const CollectiveContext& context, std::uint32_t own, const Settings& settings, const PairSecrets& secrets,
             const Limits& limits)
    : own_(own),
      links_(context.ranks.size()),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (epoll_.empty() || wakeup_.empty()) {
    throw Error(Code::kIo, "{}: cannot wait for messages: {}", context.where, std::strerror(errno));
  }
  try {
    connect(context, settings, secrets, limits);
  } catch (const Error& error) {
    if (std::string_view(error.what()).starts_with(context.where)) throw;
    throw Error(error.code(), "{}: {}", context.where, error.what());
  }
  watch();
}

// If a socket is closed while received data is unread, TCP resets the connection, and the other side may lose the data
// that was sent to it last: often the report of the failure. So the destructor first reads and discards what has
// arrived.
Links::~Links() {
  std::vector<pollfd> unread;
  for (const Link& link : links_) {
    if (!link.control) continue;
    const int fd = link.control->connection().fd();
    ::shutdown(fd, SHUT_WR);
    if (discard(fd)) unread.push_back({fd, POLLIN, 0});
  }
  const auto end = std::chrono::steady_clock::now() + kLastWords;
  const auto left = [&] {
    return std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
  };
  while (!unread.empty() && left() > 0 && ::poll(unread.data(), unread.size(), static_cast<int>(left())) > 0) {
    std::erase_if(unread, [](const pollfd& each) { return each.revents != 0 && !discard(each.fd); });
  }
}

void Links::connect(const CollectiveContext& context, const Settings& settings, const PairSecrets& secrets,
                    const Limits& limits) {
  check_settings(context, tell_all(context, "/tcp.settings", settings.common()));
  streams::Listener listener(own_address(context, settings), settings.ports);
  const auto endpoints = tell_all(context, "/tcp.endpoints", listener.endpoint());
  streams::Meeting meeting{.own = own_, .binding = binding_of(context, settings.common()), .timeout = context.timeout};
  for (std::uint32_t member = 0; member < size(); ++member) {
    const std::uint32_t streams = are_neighbours(own_, member, size()) ? 1 + settings.streams : 1;
    meeting.peers.push_back({fmt::format("rank {}", context.ranks[member]), endpoints[member], streams,
                             member == own_ ? streams::Secret::random() : secrets.with(member)});
  }
  auto met = streams::meet(listener, meeting);
  for (std::uint32_t member = 0; member < size(); ++member) {
    for (std::size_t number = 0; number < met[member].size(); ++number) {
      streams::NewStream& stream = met[member][number];
      std::optional<streams::StreamSecrets> keys;
      if (settings.encrypt) keys = stream.secrets;
      if (number == 0) {
        links_[member].control = std::make_unique<streams::FrameStream>(
            std::move(stream.connection), keys, streams::FrameStream::Limits{limits.frame_bytes, limits.queue_bytes});
      } else {
        links_[member].data.push_back(
            std::make_unique<streams::RecordStream>(std::move(stream.connection), keys, settings.record_bytes));
      }
    }
  }
}

// With edge-triggered events (EPOLLET), each change is reported once, so streams need not be added and removed for each
// wait.
void Links::watch() {
  const auto add = [&](int fd, std::uint32_t events) {
    epoll_event event{.events = events, .data = {.u64 = watched_.size()}};
    if (::epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, fd, &event) != 0) {
      throw Error(Code::kIo, "cannot wait for messages: {}", std::strerror(errno));
    }
  };
  const auto add_connection = [&](streams::Connection& connection) {
    add(connection.fd(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
    watched_.push_back(&connection);
  };
  for (Link& link : links_) {
    if (link.control) add_connection(link.control->connection());
    for (const auto& stream : link.data) add_connection(stream->connection());
  }
  add(wakeup_.fd(), EPOLLIN);
}

void Links::look(std::chrono::milliseconds most) {
  std::array<epoll_event, kEvents> events;
  const int count = ::epoll_wait(epoll_.fd(), events.data(), kEvents, static_cast<int>(most.count()));
  for (int i = 0; i < count; ++i) {
    if (events[i].data.u64 < watched_.size()) {
      watched_[events[i].data.u64]->note(events[i].events);
    } else {
      std::uint64_t ignored = 0;
      [[maybe_unused]] const auto result = ::read(wakeup_.fd(), &ignored, sizeof ignored);
    }
  }
}

void Links::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto ignored = ::write(wakeup_.fd(), &one, sizeof one);
}

}  // namespace trainyard::tcp
