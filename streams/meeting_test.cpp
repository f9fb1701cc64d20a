// SPDX-License-Identifier: Apache-2.0
#include "streams/meeting.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "messages/error.h"
#include "streams/frame_stream.h"
#include "streams/record_stream.h"

namespace trainyard::streams {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

Secret secret_of(int number) {
  std::array<std::byte, Secret::kBytes> bytes{};
  bytes[0] = static_cast<std::byte>(number);
  return Secret(bytes);
}

/// Several members in one process that meet on the loopback interface.
class Members {
 public:
  explicit Members(std::uint32_t count) {
    for (std::uint32_t member = 0; member < count; ++member) {
      listeners_.push_back(std::make_unique<Listener>("127.0.0.1", Ports{}));
      meetings_.push_back({.own = member, .timeout = 30s});
    }
    for (std::uint32_t member = 0; member < count; ++member) {
      for (std::uint32_t other = 0; other < count; ++other) {
        const auto pair = static_cast<int>(1 + std::min(member, other) * count + std::max(member, other));
        meetings_[member].peers.push_back(
            {fmt::format("rank {}", other), listeners_[other]->endpoint(), 2, secret_of(pair)});
      }
    }
  }

  Meeting& operator[](std::uint32_t member) { return meetings_[member]; }
  const std::string& endpoint(std::uint32_t member) const { return listeners_[member]->endpoint(); }

  struct End {
    std::vector<std::vector<NewStream>> streams;
    std::string error;
  };
  std::future<End> meet(std::uint32_t member) {
    return std::async(std::launch::async, [this, member] {
      End end;
      try {
        end.streams = streams::meet(*listeners_[member], meetings_[member]);
      } catch (const Error& error) {
        end.error = error.what();
      }
      return end;
    });
  }

 private:
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<Meeting> meetings_;
};

/// Sends a frame through a stream, and returns what arrives at the other end.
std::string through(NewStream from, NewStream to) {
  const FrameStream::Limits limits{1000, 2000};
  FrameStream sender(std::move(from.connection), from.secrets, limits);
  FrameStream receiver(std::move(to.connection), to.secrets, limits);
  const std::string text = "hello";
  sender.push({}, std::as_bytes(std::span(text)));
  sender.flush();
  std::string got;
  for (const auto until = std::chrono::steady_clock::now() + 30s;
       got.empty() && std::chrono::steady_clock::now() < until;) {
    receiver.connection().note(EPOLLIN);
    receiver.receive([&](Bytes frame) { got.assign(reinterpret_cast<const char*>(frame.data()), frame.size()); });
  }
  return got;
}

/// Sends a message of a handshake. Returns false if this is not possible within 30 seconds.
template <class T>
bool send_message(Connection& connection, const T& message) {
  pollfd item{connection.fd(), POLLOUT, 0};
  if (::poll(&item, 1, 30'000) != 1) return false;
  connection.note(EPOLLOUT);
  iovec piece{const_cast<T*>(&message), sizeof message};
  return connection.write({&piece, 1}) == sizeof message;
}

/// Receives a message of a handshake. Returns nothing if the connection is closed before, or after 30 seconds.
template <class T>
std::optional<T> receive_message(Connection& connection) {
  T message{};
  std::size_t got = 0;
  for (const auto until = std::chrono::steady_clock::now() + 30s;
       got < sizeof message && !connection.closed() && std::chrono::steady_clock::now() < until;) {
    pollfd item{connection.fd(), POLLIN, 0};
    ::poll(&item, 1, 100);
    connection.note(EPOLLIN);
    iovec place{reinterpret_cast<std::byte*>(&message) + got, sizeof message - got};
    got += connection.read({&place, 1});
  }
  if (got < sizeof message) return {};
  return message;
}

/// Accepts a connection of rank 1 in place of rank 0, and answers its Hello.
struct Answered {
  Answered(Listener& listener, const Meeting& rank_1)
      : connection(accept(listener)),
        handshake(rank_1.peers[0].secret, rank_1.binding, receive_message<Hello>(connection).value()) {
    EXPECT_TRUE(send_message(connection, handshake.answer().value()));
  }

  static Connection accept(Listener& listener) {
    pollfd item{listener.fd(), POLLIN, 0};
    ::poll(&item, 1, 30'000);
    std::string from;
    return Connection(listener.accept(from), "rank 1");
  }

  Connection connection;
  AcceptingHandshake handshake;
};

TEST(MeetingTest, EveryTwoMembersGetTheirStreams) {
  Members members(3);
  std::vector<std::future<Members::End>> futures;
  for (const std::uint32_t member : {2u, 0u, 1u}) futures.push_back(members.meet(member));
  std::vector<Members::End> ends(3);
  ends[2] = futures[0].get();
  ends[0] = futures[1].get();
  ends[1] = futures[2].get();
  for (std::uint32_t a = 0; a < 3; ++a) {
    EXPECT_EQ(ends[a].error, "");
    for (std::uint32_t b = a + 1; b < 3; ++b) {
      for (int stream = 0; stream < 2; ++stream) {
        EXPECT_EQ(ends[a].streams[b][stream].connection.name(), fmt::format("stream {} of rank {}", stream, b));
        EXPECT_EQ(through(std::move(ends[a].streams[b][stream]), std::move(ends[b].streams[a][stream])), "hello");
      }
    }
  }
}

TEST(MeetingTest, AMemberThatDoesNotComeIsNamed) {
  Members members(3);
  members[0].timeout = members[1].timeout = 200ms;
  auto first = members.meet(0), second = members.meet(1);
  EXPECT_EQ(first.get().error, "no connection to rank 2 within 0.2 s");
  EXPECT_EQ(second.get().error, "no connection to rank 2 within 0.2 s");
}

TEST(MeetingTest, AMemberOfAnotherRunOrAnotherGroupIsRefused) {
  for (const bool other_secret : {true, false}) {
    Members members(2);
    members[0].timeout = members[1].timeout = 300ms;
    if (other_secret) members[1].peers[0].secret = secret_of(99);
    if (!other_secret) members[1].binding[0] = std::byte{1};
    auto first = members.meet(0), second = members.meet(1);
    EXPECT_THAT(first.get().error,
                AllOf(HasSubstr("no connection to rank 1 within 0.3 s; "), HasSubstr(" connections were refused"),
                      HasSubstr("because it says that it is a member, but does not know the secret of this group")));
    EXPECT_EQ(second.get().error, "no connection to rank 0 within 0.3 s");
  }
}

// The accepting member may close a connection after its Answer because too many others have come. The connecting member
// may notice this only after it has sent its Confirmation.
TEST(MeetingTest, AMemberConnectsAgainUntilItsConnectionIsAcknowledged) {
  Members members(2);
  members[1].peers[0].streams = 1;
  Listener listener("127.0.0.1", {});
  members[1].peers[0].endpoint = listener.endpoint();
  auto second = members.meet(1);
  { const Answered closed(listener, members[1]); }
  {
    Answered wrong(listener, members[1]);
    EXPECT_TRUE(receive_message<Confirmation>(wrong.connection));
    EXPECT_TRUE(send_message(wrong.connection, Acknowledgement{}));
    EXPECT_FALSE(receive_message<Confirmation>(wrong.connection));
    EXPECT_TRUE(wrong.connection.closed());
  }
  Answered last(listener, members[1]);
  EXPECT_TRUE(last.handshake.confirmed_by(receive_message<Confirmation>(last.connection).value()));
  EXPECT_TRUE(send_message(last.connection, last.handshake.acknowledgement()));
  auto other = second.get();
  ASSERT_EQ(other.error, "");
  EXPECT_EQ(through(std::move(other.streams[0][0]), {std::move(last.connection), last.handshake.secrets()}), "hello");
}

TEST(MeetingTest, AMemberThatHasLostItsConnectionCanReplaceIt) {
  Members members(2);
  const Peer& peer = members[1].peers[0];
  const auto connect = [&](std::uint32_t stream) {
    Connection connection(connect_to(peer.endpoint), "rank 0");
    ConnectingHandshake handshake(peer.secret, members[1].binding, {1, 0, stream});
    EXPECT_TRUE(send_message(connection, handshake.hello()));
    EXPECT_TRUE(send_message(connection, handshake.confirm(receive_message<Answer>(connection).value()).value()));
    EXPECT_TRUE(handshake.acknowledged_by(receive_message<Acknowledgement>(connection).value()));
    return NewStream{std::move(connection), handshake.secrets()};
  };
  auto first = members.meet(0);
  { const NewStream lost = connect(0); }
  NewStream again = connect(0);
  const NewStream other = connect(1);
  auto one = first.get();
  ASSERT_EQ(one.error, "");
  EXPECT_EQ(through(std::move(one.streams[1][0]), std::move(again)), "hello");
}

// While the members meet, strangers connect that send nothing, or wrong bytes, or a recorded Hello of a member.
TEST(MeetingTest, StrangersDoNotKeepTheMembersApart) {
  Members members(2);
  const ConnectingHandshake old(members[1].peers[0].secret, members[1].binding, {1, 0, 0});
  const auto say = [&](const void* bytes, std::size_t size) {
    Socket socket = connect_to(members.endpoint(0));
    EXPECT_FALSE(socket.empty());
    iovec piece{const_cast<void*>(bytes), size};
    Connection connection(Socket(::dup(socket.fd())), "a stranger");
    for (const auto until = std::chrono::steady_clock::now() + 10s; size > 0;) {
      connection.note(EPOLLOUT);
      if (connection.write({&piece, 1}) > 0 || std::chrono::steady_clock::now() > until) break;
    }
    return socket;
  };
  auto first = members.meet(0);
  std::vector<Socket> strangers;
  for (int i = 0; i < 100; ++i) strangers.push_back(say(nullptr, 0));
  const std::string text(1 << 16, 'x');
  for (int i = 0; i < 10; ++i) strangers.push_back(say(text.data(), text.size()));
  for (int i = 0; i < 10; ++i) strangers.push_back(say(&old.hello(), sizeof old.hello()));
  auto second = members.meet(1);
  auto one = first.get(), other = second.get();
  EXPECT_EQ(one.error, "");
  EXPECT_EQ(other.error, "");
  EXPECT_EQ(through(std::move(one.streams[1][0]), std::move(other.streams[0][0])), "hello");
}

// A stranger opens more connections than a process may have descriptors. Each is accepted, and closed when others
// arrive.
TEST(MeetingTest, TenThousandConnectionsCostOnlyDescriptorsThatAreClosed) {
  Members members(2);
  members[0].timeout = members[1].timeout = 110s;  // So many connections can take long on a busy machine.
  auto first = members.meet(0);
  for (int i = 0; i < 10'000; ++i) connect_to(members.endpoint(0));
  auto second = members.meet(1);
  EXPECT_EQ(first.get().error, "");
  EXPECT_EQ(second.get().error, "");
}

TEST(NetworkTest, ReadsRangesOfPorts) {
  EXPECT_EQ(read_ports("any").first, 0);
  EXPECT_EQ(read_ports("20000").last, 20000);
  EXPECT_EQ(read_ports("20000-20100").last, 20100);
  for (const char* wrong : {"", "0", "70000", "20-10", "20-", "-5", "a", "1-2-3", "1 "}) {
    EXPECT_THROW(read_ports(wrong), Error) << wrong;
  }
}

TEST(NetworkTest, FindsInterfacesByNameAndAddress) {
  EXPECT_EQ(address_of_interface("lo"), "127.0.0.1");
  EXPECT_EQ(address_of_interface("127.0.0.1"), "127.0.0.1");
  try {
    address_of_interface("lp");
    FAIL() << "it was found";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("no network interface 'lp' that is up and has an address"),
                                    HasSubstr("did you mean 'lo'?")));
  }
}

TEST(NetworkTest, TakesTheNextFreePortOfARange) {
  const Listener any("127.0.0.1", {});
  const auto taken = static_cast<std::uint16_t>(std::stoi(any.endpoint().substr(any.endpoint().find(':') + 1)));
  if (taken == 65535) GTEST_SKIP() << "there is no port above it";
  EXPECT_THROW(Listener("127.0.0.1", {taken, taken}), Error);
  try {
    const Listener next("127.0.0.1", {taken, static_cast<std::uint16_t>(std::min(taken + 50, 65535))});
    EXPECT_NE(next.endpoint(), any.endpoint());
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("Address already in use"));
  }
}

}  // namespace
}  // namespace trainyard::streams
