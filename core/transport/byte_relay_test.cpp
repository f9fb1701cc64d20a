// SPDX-License-Identifier: Apache-2.0
#include "core/transport/byte_relay.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <utility>

namespace trainyard::core {
namespace {

using namespace std::chrono_literals;

std::pair<FileDescriptor, FileDescriptor> connected() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

void wait_until(const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!done()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << "in vain";
    std::this_thread::yield();
  }
}

/// A relay between a client and a router, which are two sockets of the test.
class ByteRelayTest : public ::testing::Test {
 protected:
  explicit ByteRelayTest(std::chrono::milliseconds patience = 200ms) : relay_(kBytes, patience) {
    auto [client, outer] = connected();
    auto [router, inner] = connected();
    client_ = std::move(client);
    router_ = std::move(router);
    relay_.add(std::move(outer), std::move(inner));
  }

  /// Sends until the relay takes no more.
  static std::size_t fill(const FileDescriptor& socket) {
    const std::string bytes(1 << 16, 'x');
    std::size_t sent = 0;
    pollfd writable{.fd = socket.get(), .events = POLLOUT, .revents = 0};
    while (::poll(&writable, 1, 200) > 0) {
      const ssize_t now = ::send(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (now > 0) sent += static_cast<std::size_t>(now);
    }
    return sent;
  }

  static constexpr std::size_t kBytes = 32 << 10;
  ByteRelay relay_;
  FileDescriptor client_, router_;
};

TEST_F(ByteRelayTest, AClientThatDoesNotReadIsGivenUpAfterTheRouterHasClosed) {
  fill(router_);
  EXPECT_EQ(relay_.pairs(), 1u);
  router_.reset();
  wait_until([&] { return relay_.pairs() == 0; });
}

TEST_F(ByteRelayTest, ARouterThatDoesNotReadIsGivenUpAfterTheClientHasClosed) {
  fill(client_);
  EXPECT_EQ(relay_.pairs(), 1u);
  client_.reset();
  wait_until([&] { return relay_.pairs() == 0; });
}

class PatientByteRelayTest : public ByteRelayTest {
 protected:
  PatientByteRelayTest() : ByteRelayTest(1min) {}
};

TEST_F(PatientByteRelayTest, AClientThatReadsGetsAllBytesAfterTheRouterHasClosed) {
  const std::size_t sent = fill(router_);
  router_.reset();
  std::size_t received = 0;
  std::string bytes(1 << 16, '\0');
  for (ssize_t got = 1; got > 0; received += static_cast<std::size_t>(got))
    got = ::recv(client_.get(), bytes.data(), bytes.size(), 0);
  EXPECT_EQ(received, sent);
  wait_until([&] { return relay_.pairs() == 0; });
}

// Between fork() and exec(), a child has copies of all descriptors, so they are not closed when the relay closes them.
TEST_F(ByteRelayTest, APairWhoseDescriptorsAChildHasCopiedIsForgotten) {
  auto [client, outer] = connected();
  auto [router, inner] = connected();
  relay_.add(std::move(outer), std::move(inner));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    while (true) ::pause();
  }
  ::shutdown(client_.get(), SHUT_WR);
  wait_until([&] { return relay_.pairs() == 1; });
  ::send(router_.get(), "late", 4, MSG_NOSIGNAL);  // An event of a pair that no longer exists, if it is not forgotten.
  ::send(client.get(), "hello", 5, MSG_NOSIGNAL);
  char bytes[5] = {};
  EXPECT_EQ(::recv(router.get(), bytes, sizeof bytes, MSG_WAITALL), 5);
  EXPECT_EQ(relay_.pairs(), 1u);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace trainyard::core
