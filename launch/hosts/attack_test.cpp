// SPDX-License-Identifier: Apache-2.0
// Strangers at the door of host 0, and somebody between an agent and host 0 who sees, changes, repeats, reorders and
// cuts everything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

#include "core/testing/flood.h"
#include "launch/hosts/addresses.h"
#include "launch/hosts/host_door.h"
#include "launch/hosts/host_link.h"
#include "launch/hosts/join_check.h"
#include "launch/run/file_descriptor.h"

namespace trainyard::launch {
namespace {

using namespace std::chrono_literals;
using Blob = std::string;

std::uint16_t port_of(const FileDescriptor& socket) {
  SocketAddress address{.size = sizeof address.storage};
  ::getsockname(socket.get(), address.get(), &address.size);
  return ntohs(reinterpret_cast<const sockaddr_in*>(address.get())->sin_port);
}

FileDescriptor listen_anywhere() {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress address = socket_address("127.0.0.1", 0);
  EXPECT_EQ(::bind(socket.get(), address.get(), address.size), 0);
  EXPECT_EQ(::listen(socket.get(), 16), 0);
  return socket;
}

FileDescriptor connect_to(std::uint16_t port) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress address = socket_address("127.0.0.1", port);
  if (::connect(socket.get(), address.get(), address.size) != 0) socket.reset();
  return socket;
}

bool read_whole(int fd, char* to, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t got = ::recv(fd, to + done, size - done, 0);
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

bool write_whole(int fd, const Blob& bytes) {
  return ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

/// Reads one frame of ZMTP 3: its flags, its size, and what is in it.
bool read_frame(int fd, Blob& frame) {
  char flags = 0;
  if (!read_whole(fd, &flags, 1)) return false;
  const std::size_t width = (flags & 2) != 0 ? 8 : 1;
  Blob size(width, '\0');
  if (!read_whole(fd, size.data(), width)) return false;
  std::size_t bytes = 0;
  for (const char c : size) bytes = bytes << 8 | static_cast<unsigned char>(c);
  Blob body(bytes, '\0');
  if (!read_whole(fd, body.data(), bytes)) return false;
  frame = Blob(1, flags) + size + body;
  return true;
}

/// What is sent in place of the frames that the agent has sent in traffic so far, of which the last is new.
using Attack = std::function<std::vector<Blob>(const std::vector<Blob>& traffic)>;

/// A connection of an agent that passes through somebody else's hands. Commands of the handshake pass unchanged.
class ManInTheMiddle {
 public:
  ManInTheMiddle(std::uint16_t to, Attack attack)
      : to_(to), attack_(std::move(attack)), listener_(listen_anywhere()), thread_([this] { serve(); }) {}
  ~ManInTheMiddle() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    ended_ = true;
    for (const int fd : {inner_.load(), outer_.load()}) {
      if (fd >= 0) ::shutdown(fd, SHUT_RDWR);
    }
    thread_.join();
  }

  std::uint16_t port() const { return port_of(listener_); }
  /// The number of frames that the agent has sent after the handshake.
  std::size_t seen() const { return seen_; }
  /// True when the connection has been closed by host 0.
  bool closed() const { return closed_; }

 private:
  // Only the first connection passes: an agent that tries again must not come through.
  void serve() {
    const FileDescriptor inner(::accept(listener_.get(), nullptr, nullptr));
    if (!inner) return;
    const FileDescriptor outer = connect_to(to_);
    inner_ = inner.get();
    outer_ = outer.get();
    std::thread back([&] {
      char bytes[4096];
      for (ssize_t got = 0; (got = ::recv(outer.get(), bytes, sizeof bytes, 0)) > 0;) {
        if (!write_whole(inner.get(), Blob(bytes, static_cast<std::size_t>(got)))) break;
      }
      if (!ended_) closed_ = true;
      ::shutdown(inner.get(), SHUT_RDWR);
    });
    pass(inner.get(), outer.get());
    back.join();
    inner_ = outer_ = -1;
  }

  void pass(int inner, int outer) {
    // Each side sends the next piece of its greeting when it has one of the other side.
    Blob greeting(64, '\0');
    for (std::size_t done = 0; done < greeting.size();) {
      const ssize_t got = ::recv(inner, greeting.data(), greeting.size() - done, 0);
      if (got <= 0 || !write_whole(outer, greeting.substr(0, static_cast<std::size_t>(got)))) return;
      done += static_cast<std::size_t>(got);
    }
    std::vector<Blob> traffic;
    for (Blob frame; read_frame(inner, frame);) {
      constexpr char kCommand = 4;
      if ((frame[0] & kCommand) != 0 && frame.find("MESSAGE") == Blob::npos) {
        write_whole(outer, frame);
        continue;
      }
      traffic.push_back(frame);
      seen_ = traffic.size();
      for (const Blob& instead : attack_(traffic)) write_whole(outer, instead);
    }
  }

  const std::uint16_t to_;
  const Attack attack_;
  FileDescriptor listener_;
  std::atomic<int> inner_{-1}, outer_{-1};
  std::atomic<std::size_t> seen_{0};
  std::atomic<bool> ended_ = false, closed_ = false;
  std::thread thread_;
};

class AttackTest : public ::testing::Test {
 protected:
  AttackTest() {
    door_.messages().on<HostNote>([this](std::uint32_t, const HostNote& note) { heard_.push_back(note.name); });
    door_.serve(loop_);
  }

  HostSettings settings() {
    port_ = port_of(listen_anywhere());
    HostSettings settings{.self = describe_launch(plan_, {}), .meeting = {"127.0.0.1", {port_}}, .key = key_};
    settings.self.host_name = "here";
    return settings;
  }

  /// Runs the door and the agents until `done`, or for a minute.
  void run_until(const std::function<bool()>& done) {
    for (const auto end = loop_.now() + 60s; !done() && loop_.now() < end;) loop_.run_once(10ms);
    ASSERT_TRUE(done());
  }

  std::unique_ptr<HostLink> link(std::uint16_t port) {
    return std::make_unique<HostLink>(agent_context_, loop_, tcp_endpoint("127.0.0.1", std::to_string(port)), key_);
  }

  /// Sends the Join of the agent of host 1 until it is answered.
  void join(HostLink& link) {
    bool accepted = false;
    link.messages().on<JoinAnswer>([&](const JoinAnswer& answer) { accepted = accepted || answer.accepted; });
    Join join = settings_.self;
    join.host = 1;
    bool sent = false;
    run_until([&] {
      if (!sent) sent = link.send(join);
      return accepted;
    });
  }

  /// Runs until everything has passed through these hands or host 0 has closed the connection, and then for as long as
  /// anything could still be heard.
  void hear_all(const ManInTheMiddle& between) {
    constexpr std::size_t kFrames = 2 * (1 + 6);  // The Join and six notes.
    run_until([&] { return between.closed() || between.seen() >= kFrames; });
    for (int i = 0; i < 50; ++i) loop_.run_once(10ms);
  }

  static void say(HostLink& link, int number) { link.send(HostNote{std::to_string(number), Blob(100, 'x')}); }

  static Plan plan_of_two_hosts() {
    Plan plan;
    plan.hosts = 2;
    return plan;
  }

  Plan plan_ = plan_of_two_hosts();
  core::RunKeys key_ = core::RunKeys::make();
  std::uint16_t port_ = 0;
  HostSettings settings_ = settings();
  PollLoop loop_;
  zmq::context_t agent_context_;
  HostDoor door_{plan_, settings_};
  std::vector<std::string> heard_;
};

TEST_F(AttackTest, NoKeyAndNoOtherKeyAndNoOtherMechanismIsHeardAndAllAreCounted) {
  const core::RunKeys other = core::RunKeys::make();
  const std::vector<std::pair<std::string, std::function<void(zmq::socket_t&)>>> attacks = {
      {"NULL", [](zmq::socket_t&) {}},
      {"PLAIN",
       [](zmq::socket_t& socket) {
         socket.set(zmq::sockopt::plain_username, "host");
         socket.set(zmq::sockopt::plain_password, "sesame");
       }},
      {"the key of another run, which knows the key of this one",
       [&](zmq::socket_t& socket) {
         core::present_as_member(socket, other);
         socket.set(zmq::sockopt::curve_serverkey, key_.public_key);
       }},
      {"the public key without the secret",
       [&](zmq::socket_t& socket) {
         core::present_as_member(socket, {key_.public_key, other.secret_key});
       }},
      {"another run's host 0", [&](zmq::socket_t& socket) { core::present_as_member(socket, other); }}};
  std::uint64_t refused = 0;
  for (const auto& [name, prepare] : attacks) {
    SCOPED_TRACE(name);
    zmq::context_t context;
    zmq::socket_t stranger(context, zmq::socket_type::dealer);
    stranger.set(zmq::sockopt::linger, 0);
    prepare(stranger);
    Join join = settings_.self;
    join.host = 1;
    stranger.connect(tcp_endpoint("127.0.0.1", std::to_string(port_)));
    stranger.send(zmq::str_buffer("Join"), zmq::send_flags::sndmore);
    stranger.send(zmq::buffer(body_of_message(join)), zmq::send_flags::none);
    run_until([&] { return door_.refusals() > refused; });
    zmq::message_t answer;
    EXPECT_FALSE(stranger.recv(answer, zmq::recv_flags::dontwait));
    stranger.close();
    context.close();
    refused = door_.refusals();
  }
  EXPECT_GE(refused, attacks.size());
  const auto agent = link(port_);
  join(*agent);  // The place is still free.
}

/// What somebody between agent and host 0 does to the third message after the Join; what host 0 must have heard.
struct Change {
  const char* what;
  Attack attack;
};

class ChangeTest : public AttackTest, public ::testing::WithParamInterface<Change> {};

constexpr std::size_t kJoin = 2;  ///< The number of frames of a Join, and of a note.

/// Passes everything on until the first frame of the third note has come, and then does `change`.
Attack at_third_note(std::function<std::vector<Blob>(const std::vector<Blob>&)> change) {
  return [change = std::move(change)](const std::vector<Blob>& traffic) -> std::vector<Blob> {
    return traffic.size() == 3 * kJoin + 1 ? change(traffic) : std::vector<Blob>{traffic.back()};
  };
}

Blob with_flipped_bit(Blob frame, std::size_t from_end) {
  frame[frame.size() - from_end] = static_cast<char>(frame[frame.size() - from_end] ^ 1);
  return frame;
}

// Host 0 has heard the messages before the attack, each once and in order, and nothing after it: libzmq closes the
// connection or reads no more from it, and host 0 then loses the agent.
TEST_P(ChangeTest, OfAMessageOnItsWayIsNoticed) {
  const ManInTheMiddle between(port_, GetParam().attack);
  const auto agent = link(between.port());
  join(*agent);
  const std::uint64_t refused = door_.refusals();
  for (int number = 0; number < 6; ++number) say(*agent, number);
  hear_all(between);
  EXPECT_EQ(heard_, (std::vector<std::string>{"0", "1"}));
  EXPECT_GE(door_.refusals(), refused);
}

INSTANTIATE_TEST_SUITE_P(
    All, ChangeTest,
    ::testing::Values(Change{"FlippedBitInTheText", at_third_note([](const auto& traffic) {
                               return std::vector<Blob>{with_flipped_bit(traffic.back(), 1)};
                             })},
                      Change{"FlippedBitInTheProof", at_third_note([](const auto& traffic) {
                               return std::vector<Blob>{with_flipped_bit(traffic.back(), traffic.back().size() - 20)};
                             })},
                      Change{"Replayed", at_third_note([](const auto& traffic) {
                               return std::vector<Blob>{traffic[kJoin], traffic.back()};
                             })},
                      Change{"Repeated", at_third_note([](const auto& traffic) {
                               return std::vector<Blob>{traffic[3 * kJoin - 1], traffic.back()};
                             })},
                      Change{"Truncated", at_third_note([](const auto& traffic) {
                               Blob frame = traffic.back();
                               frame.resize(frame.size() - 5);
                               frame[1] = static_cast<char>(frame[1] - 5);  // All frames of these messages are short.
                               return std::vector<Blob>{frame};
                             })},
                      Change{"Oversized", at_third_note([](const auto&) {
                               // A frame of an exabyte: its size is refused before memory is allocated for it.
                               return std::vector<Blob>{Blob("\x02\x10\x00\x00\x00\x00\x00\x00\x00", 9) +
                                                        Blob(100, 'x')};
                             })},
                      Change{"Nonsense",
                             at_third_note([](const auto&) { return std::vector<Blob>{Blob(300, '\xff')}; })}),
    [](const auto& info) { return std::string(info.param.what); });

TEST_F(AttackTest, ReorderedMessagesAreNoticed) {
  Blob held;
  const ManInTheMiddle between(port_, [&](const std::vector<Blob>& traffic) -> std::vector<Blob> {
    if (traffic.size() == 3 * kJoin + 1) {
      held = traffic.back();
      return {};
    }
    if (traffic.size() == 3 * kJoin + 2) return {traffic.back(), held};
    return {traffic.back()};
  });
  const auto agent = link(between.port());
  join(*agent);
  for (int number = 0; number < 6; ++number) say(*agent, number);
  hear_all(between);
  EXPECT_EQ(heard_, (std::vector<std::string>{"0", "1"}));
}

TEST_F(AttackTest, AnHonestManInTheMiddleChangesNothing) {
  const ManInTheMiddle between(port_,
                               [](const std::vector<Blob>& traffic) { return std::vector<Blob>{traffic.back()}; });
  const auto agent = link(between.port());
  join(*agent);
  for (int number = 0; number < 6; ++number) say(*agent, number);
  run_until([&] { return heard_.size() == 6; });
  EXPECT_FALSE(between.closed());
}

// Ten thousand connections, some silent, some with nonsense, of which as many as possible stay open.
TEST_F(AttackTest, TenThousandConnectionsKeepNobodyOut) {
  constexpr int kConnections = 10'000;
  const auto agent = link(port_);
  join(*agent);
  std::size_t answers = 0;
  agent->messages().on<HostBeat>([&](const HostBeat&) { ++answers; });
  door_.messages().on<HostNote>([&](std::uint32_t host, const HostNote&) { door_.send(host, HostBeat{}); });
  const auto round_trips = [&](const std::function<bool(std::size_t)>& enough) {
    std::vector<std::chrono::microseconds> times;
    while (!enough(times.size())) {
      const auto begin = std::chrono::steady_clock::now();
      const std::size_t before = answers;
      say(*agent, 0);
      run_until([&] { return answers > before || HasFatalFailure(); });
      times.push_back(std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin));
    }
    return testing::slow_percentile(times);
  };
  const auto thousand = [](std::size_t count) { return count >= 1000; };
  const auto before = round_trips(thousand);
  std::chrono::microseconds meanwhile{}, after{};
  {
    testing::Flood flood(port_, kConnections, 2s);
    meanwhile = round_trips([&](std::size_t count) { return (flood.done() && thousand(count)) || HasFatalFailure(); });
    after = round_trips(thousand);
    // Whoever comes now is served, too.
    const auto late = link(port_);
    run_until([&] { return late->send(HostBeat{}); });
  }
  RecordProperty("p99_before_us", std::to_string(before.count()));
  RecordProperty("p99_meanwhile_us", std::to_string(meanwhile.count()));
  RecordProperty("p99_afterwards_us", std::to_string(after.count()));
  std::printf("p99 of a good agent: %ld us before, %ld us while %d strangers came, %ld us afterwards\n",
              static_cast<long>(before.count()), static_cast<long>(meanwhile.count()), kConnections,
              static_cast<long>(after.count()));
  // Those with a false HELLO, and those who are not even connected any more.
  run_until([&] { return door_.refusals() > kConnections / 4; });
}

}  // namespace
}  // namespace trainyard::launch
