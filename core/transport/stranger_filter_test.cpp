// SPDX-License-Identifier: Apache-2.0
#include "core/transport/stranger_filter.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "core/testing/error_of.h"
#include "core/testing/flood.h"
#include "core/transport/admission.h"
#include "core/transport/connection_limit.h"
#include "core/transport/curve_opening.h"
#include "core/transport/frames.h"
#include "core/transport/run_keys.h"

namespace trainyard::core {
namespace {

using namespace std::chrono_literals;
using testing::error_of;
using testing::Flood;
using ::testing::HasSubstr;

FileDescriptor connect_to(const std::string& endpoint) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return socket;
}

void say(const FileDescriptor& socket, const std::string& bytes) {
  ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

/// A ROUTER behind a filter, and the number of connections that have reached it.
class StrangerFilterTest : public ::testing::Test {
 protected:
  explicit StrangerFilterTest(StrangerFilter::Limits limits = {.strangers = 100, .admitted = 100}) : limits_(limits) {
    accept_members(context_, router_, keys_);
    connections_ = std::make_unique<ConnectionLimit>(context_, router_, 1'000'000);
    make_filter();
  }
  ~StrangerFilterTest() override {
    connections_.reset();
    router_.close();
  }

  void make_filter() { filter_ = std::make_unique<StrangerFilter>(router_, "tcp://127.0.0.1:*", limits_); }

  zmq::socket_t client(const RunKeys& own, const RunKeys& host) { return make_client(own, host, filter_->endpoint()); }

  zmq::socket_t make_client(const RunKeys& own, const RunKeys& host, const std::string& endpoint) {
    zmq::socket_t socket = make_socket(outside_, zmq::socket_type::dealer);
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::curve_publickey, own.public_key);
    socket.set(zmq::sockopt::curve_secretkey, own.secret_key);
    socket.set(zmq::sockopt::curve_serverkey, host.public_key);
    socket.connect(endpoint);
    return socket;
  }

  void run_until(const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (!done()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << "in vain";
      while (admission_.poll()) {
      }
      while (connections_->poll()) {
      }
      Frames frames;
      if (receive_frames(router_, frames)) {
        ++questions_;
        send_frames(router_, frames);  // Every question is its own answer.
        continue;
      }
      zmq::pollitem_t items[] = {{admission_.socket(), 0, ZMQ_POLLIN, 0}, {router_.handle(), 0, ZMQ_POLLIN, 0}};
      zmq::poll(items, 2, 5ms);
    }
  }

  /// Sends text and waits for it to come back.
  void make_round_trip(zmq::socket_t& socket, std::string_view text) {
    socket.send(zmq::buffer(text), zmq::send_flags::none);
    zmq::message_t answer;
    run_until([&] { return socket.recv(answer, zmq::recv_flags::dontwait).has_value(); });
    EXPECT_EQ(answer.to_string_view(), text);
  }

  /// Returns what a client that knows the key says first: its greeting and its HELLO.
  std::string recorded_opening() {
    FileDescriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    zmq::socket_t good = make_client(keys_, keys_, "tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port)));
    const FileDescriptor connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    say(connection, CurveOpening::server_greeting());
    std::string opening(CurveOpening::kBytes, '\0');
    EXPECT_EQ(::recv(connection.get(), opening.data(), opening.size(), MSG_WAITALL),
              static_cast<ssize_t>(opening.size()));
    return opening;
  }

  /// Returns true if the other side has closed the connection.
  static bool is_closed(const FileDescriptor& socket) {
    char byte[64];
    ssize_t got = 1;
    while (got > 0) got = ::recv(socket.get(), byte, sizeof byte, MSG_DONTWAIT);
    return got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
  }

  const StrangerFilter::Limits limits_;
  RunKeys keys_ = RunKeys::make();
  std::unique_ptr<StrangerFilter> filter_;
  zmq::context_t context_, outside_;
  Admission admission_{context_, {keys_.public_key}};
  zmq::socket_t router_ = make_socket(context_, zmq::socket_type::router);
  std::unique_ptr<ConnectionLimit> connections_;
  int questions_ = 0;
};

TEST_F(StrangerFilterTest, AFloodOfStrangersDoesNotReachTheSocketAndOneWithTheKeyDoes) {
  zmq::socket_t good = client(keys_, keys_);
  make_round_trip(good, "before");
  std::size_t most = 0;
  {
    Flood flood(static_cast<std::uint16_t>(std::stoi(filter_->endpoint().substr(filter_->endpoint().rfind(':') + 1))),
                1200, 100ms);
    run_until([&] {
      most = std::max(most, connections_->connections());
      return flood.done() && filter_->refused() >= 1100;  // The silent ones among the last hundred may still be there.
    });
    make_round_trip(good, "meanwhile");
    zmq::socket_t late = client(keys_, keys_);
    make_round_trip(late, "a newcomer");
  }
  EXPECT_EQ(most, 1u) << "only the one with the key";
  EXPECT_EQ(connections_->refused(), 0u);
}

#if defined(__SANITIZE_THREAD__)
// The thread sanitizer takes minutes for what libzmq does with more.
constexpr std::size_t kLarge = 512 << 10;
#else
constexpr std::size_t kLarge = 8 << 20;
#endif

TEST_F(StrangerFilterTest, LargeMessagesPassUnchanged) {
  zmq::socket_t good = client(keys_, keys_);
  std::string large(kLarge, 'x');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 31 >> 3);
  for (int i = 0; i < 3; ++i) make_round_trip(good, large);
}

TEST_F(StrangerFilterTest, OneThatDoesNotReadDelaysNobody) {
  zmq::socket_t lazy = client(keys_, keys_);
  const std::string large(1 << 20, 'x');
  for (int i = 0; i < 64; ++i) lazy.send(zmq::buffer(large), zmq::send_flags::none);
  run_until([&] { return questions_ == 64; });
  zmq::socket_t good = client(keys_, keys_);
  for (int i = 0; i < 10; ++i) make_round_trip(good, "hello");
}

TEST_F(StrangerFilterTest, AKeyThatIsNotAdmittedIsRefusedByTheSocket) {
  zmq::socket_t other = client(RunKeys::make(), keys_);
  other.send(zmq::str_buffer("hello"), zmq::send_flags::none);
  run_until([&] { return connections_->refused() > 0; });
  EXPECT_EQ(questions_, 0);
  zmq::socket_t good = client(keys_, keys_);
  make_round_trip(good, "hello");
}

// More of them at the same time than may be examined.
TEST_F(StrangerFilterTest, ManyKeysThatAreNotAdmittedTakeTurns) {
  std::vector<zmq::socket_t> others;
  for (int i = 0; i < 80; ++i) others.push_back(client(RunKeys::make(), keys_));
  std::size_t most = 0;
  run_until([&] {
    most = std::max(most, connections_->connections());
    return connections_->refused() >= 80;
  });
  EXPECT_LE(most, 64u);
}

TEST_F(StrangerFilterTest, OneWhoKnowsAnotherKeyIsRefusedByTheFilter) {
  zmq::socket_t other = client(keys_, RunKeys::make());
  run_until([&] { return filter_->refused() > 0; });
  EXPECT_EQ(connections_->connections(), 0u);
}

TEST_F(StrangerFilterTest, ADisconnectedClientIsForgotten) {
  zmq::socket_t good = client(keys_, keys_);
  make_round_trip(good, "hello");
  EXPECT_EQ(connections_->connections(), 1u);
  good.close();
  run_until([&] { return connections_->connections() == 0; });
}

TEST_F(StrangerFilterTest, WhatTheSocketSaysLastArrives) {
  zmq::socket_t good = client(keys_, keys_);
  make_round_trip(good, "hello");
  good.send(zmq::str_buffer("the last question"), zmq::send_flags::none);
  run_until([&] { return questions_ == 2; });
  connections_.reset();
  router_.close();
  filter_.reset();
  zmq::message_t answer;
  good.set(zmq::sockopt::rcvtimeo, 60'000);
  ASSERT_TRUE(good.recv(answer));
  EXPECT_EQ(answer.to_string_view(), "the last question");
}

TEST_F(StrangerFilterTest, NonsenseIsClosedAtOnce) {
  for (const std::string& words : Flood::words()) {
    if (words.empty() || words == testing::curve_greeting()) continue;
    const FileDescriptor stranger = connect_to(filter_->endpoint());
    say(stranger, words);
    run_until([&] { return is_closed(stranger); });
  }
}

// A recorded HELLO contains a valid proof.
TEST_F(StrangerFilterTest, AHelloThatIsRepeatedDoesNotReachTheSocket) {
  const std::string opening = recorded_opening();
  const FileDescriptor first = connect_to(filter_->endpoint());
  say(first, opening);
  run_until([&] { return connections_->connections() == 1; });
  const FileDescriptor again = connect_to(filter_->endpoint());
  say(again, opening);
  run_until([&] { return is_closed(again); });
  EXPECT_EQ(filter_->refused(), 1u);
  EXPECT_EQ(connections_->connections(), 1u);
  zmq::socket_t good = client(keys_, keys_);
  make_round_trip(good, "hello");
}

/// Takes care that this process has few descriptors left.
class FewDescriptors {
 public:
  FewDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const FileDescriptor next(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const rlimit low{.rlim_cur = static_cast<rlim_t>(next.get()) + 100, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &low);
  }
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

// libzmq would end the process if it had no descriptor for a connection from the filter.
TEST_F(StrangerFilterTest, WithoutDescriptorsNobodyIsLetIn) {
  zmq::socket_t good = make_socket(outside_, zmq::socket_type::dealer);
  {
    const FewDescriptors few;
    good = client(keys_, keys_);
    run_until([&] { return filter_->refused() > 0; });
    EXPECT_EQ(connections_->connections(), 0u);
  }
  make_round_trip(good, "hello");
}

// Between fork() and exec(), a child has copies of all descriptors, so they are not closed when the filter closes them.
TEST_F(StrangerFilterTest, StrangersWhoseDescriptorsAChildHasCopiedAreForgotten) {
  std::vector<FileDescriptor> strangers;
  for (int i = 0; i < 20; ++i) strangers.push_back(connect_to(filter_->endpoint()));
  zmq::socket_t good = client(keys_, keys_);
  make_round_trip(good, "before");  // The strangers came first, so they have been accepted.
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    while (true) ::pause();
  }
  for (const FileDescriptor& stranger : strangers) say(stranger, "GET / HTTP/1.1\r\n\r\n");
  run_until([&] { return filter_->refused() == strangers.size(); });
  for (const FileDescriptor& stranger : strangers) say(stranger, "more");  // An event, if they are not forgotten.
  make_round_trip(good, "after");
  zmq::socket_t late = client(keys_, keys_);
  make_round_trip(late, "a newcomer");
  EXPECT_EQ(filter_->refused(), strangers.size());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

class FewStrangersTest : public StrangerFilterTest {
 protected:
  FewStrangersTest() : StrangerFilterTest({.strangers = 2, .admitted = 1}) {}
};

TEST_F(FewStrangersTest, TheOldestStrangerMakesRoomForTheNext) {
  std::vector<FileDescriptor> silent;
  for (int i = 0; i < 3; ++i) silent.push_back(connect_to(filter_->endpoint()));
  run_until([&] { return is_closed(silent[0]); });
  EXPECT_FALSE(is_closed(silent[1]));
  EXPECT_FALSE(is_closed(silent[2]));
}

TEST_F(FewStrangersTest, StrangersDoNotReplaceOneThatKnowsTheKeyAndWaits) {
  zmq::socket_t good = client(keys_, keys_);
  make_round_trip(good, "hello");
  const std::string opening = recorded_opening();
  const FileDescriptor waiting = connect_to(filter_->endpoint());
  say(waiting, opening);
  char greeting[CurveOpening::kGreetingBytes];
  ASSERT_EQ(::recv(waiting.get(), greeting, sizeof greeting, MSG_WAITALL), static_cast<ssize_t>(sizeof greeting));
  std::vector<FileDescriptor> silent;
  for (int i = 0; i < 5; ++i) silent.push_back(connect_to(filter_->endpoint()));
  run_until([&] { return is_closed(silent[0]) && is_closed(silent[1]) && is_closed(silent[2]); });
  EXPECT_FALSE(is_closed(waiting));
  good.close();
  char welcome = 0;
  ASSERT_EQ(::recv(waiting.get(), &welcome, 1, 0), 1) << "it is its turn now";
}

TEST_F(FewStrangersTest, OnlyFewWaitAtTheSameTime) {
  zmq::socket_t good = client(keys_, keys_);
  make_round_trip(good, "hello");
  std::vector<FileDescriptor> knowing;
  for (int i = 0; i < 3; ++i) {
    const std::string opening = recorded_opening();
    knowing.push_back(connect_to(filter_->endpoint()));
    say(knowing.back(), opening);
    char greeting[CurveOpening::kGreetingBytes];
    ASSERT_EQ(::recv(knowing.back().get(), greeting, sizeof greeting, MSG_WAITALL),
              static_cast<ssize_t>(sizeof greeting));
  }
  run_until([&] { return filter_->refused() == 1; });
}

TEST_F(FewStrangersTest, OneMoreThanMayBeAdmittedWaitsUntilAnotherLeaves) {
  zmq::socket_t first = client(keys_, keys_);
  make_round_trip(first, "hello");
  zmq::socket_t second = client(keys_, keys_);
  for (int i = 0; i < 10; ++i) make_round_trip(first, "still served");
  EXPECT_EQ(connections_->connections(), 1u);
  first.close();
  make_round_trip(second, "hello");
}

TEST_F(StrangerFilterTest, AddressesThatCannotBeBoundAreNamed) {
  const auto at = [&](const std::string& address) {
    return error_of([&] {
             zmq::socket_t router(context_, zmq::socket_type::router);
             accept_members(context_, router, keys_);
             const StrangerFilter filter(router, address, limits_);
           })
        .second;
  };
  EXPECT_THAT(at(filter_->endpoint()), HasSubstr("cannot bind " + filter_->endpoint() + ": Address already in use"));
  EXPECT_THAT(at("ipc://here"), HasSubstr("cannot bind ipc://here: it must look like tcp://127.0.0.1:7000"));
  EXPECT_THAT(at("tcp://127.0.0.1:many"), HasSubstr("cannot bind tcp://127.0.0.1:many: "));
}

TEST_F(StrangerFilterTest, ListensAtAnInterface) {
  zmq::socket_t router(context_, zmq::socket_type::router);
  accept_members(context_, router, keys_);
  const StrangerFilter filter(router, "tcp://lo:*", limits_);
  EXPECT_THAT(filter.endpoint(), HasSubstr("tcp://127.0.0.1:"));
  router.close();
}

TEST_F(StrangerFilterTest, ListensAtAnIPv6Address) {
  zmq::socket_t router(context_, zmq::socket_type::router);
  accept_members(context_, router, keys_);
  try {
    const StrangerFilter filter(router, "tcp://[::1]:*", limits_);
    EXPECT_THAT(filter.endpoint(), HasSubstr("tcp://[::1]:"));
    router.close();
  } catch (const Error& error) {
    GTEST_SKIP() << "this host has no IPv6: " << error.what();
  }
}

}  // namespace
}  // namespace trainyard::core
