// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/tunnels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <deque>
#include <vector>

#include "core/testing/temporary_folder.h"
#include "launch/run/gateway_address.h"

namespace trainyard::launch {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kProcess = 7;

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

FileDescriptor make_socket() {
  return FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

/// Reads what is there; nullopt at the end of the connection.
std::optional<std::string> read_from(const FileDescriptor& socket, std::size_t most = 1 << 20) {
  std::string text(most, '\0');
  const ssize_t got = ::recv(socket.get(), text.data(), text.size(), 0);
  if (got == 0) return std::nullopt;
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

/// Host 0 with an entrance to the gateway of a process on host 1. The parts between them are kept until carry().
class TunnelsTest : public ::testing::Test {
 protected:
  TunnelsTest() {
    near_.open_entrance({.process = kProcess, .host = 1});
    const sockaddr_un address = unix_address(far_folder_.path() + "/gateway");
    EXPECT_EQ(::bind(gateway_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(gateway_.get(), 1000), 0);
  }

  /// Lets both hosts do what they can, and carries the parts, until nothing happens any more.
  void carry() {
    bool busy = true;
    while (busy) {
      busy = near_.serve();
      busy = far_.serve() || busy;
      busy = deliver(to_far_, far_) || busy;
      busy = deliver(to_near_, near_) || busy;
    }
  }

  static bool deliver(std::deque<TunnelPart>& parts, Tunnels& tunnels) {
    if (parts.empty()) return false;
    const TunnelPart part = parts.front();
    parts.pop_front();
    tunnels.handle(part);
    return true;
  }

  FileDescriptor visit() const {
    FileDescriptor visitor = make_socket();
    const sockaddr_un address =
        unix_address(entrance_address(near_folder_.path(), kProcess).substr(std::string("ipc://").size()));
    EXPECT_EQ(::connect(visitor.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return visitor;
  }

  FileDescriptor admit() const { return FileDescriptor(::accept4(gateway_.get(), nullptr, nullptr, SOCK_NONBLOCK)); }

  /// What the launcher does: it adds the address of the gateway.
  bool send_to_far(TunnelPart part) {
    if (part.opens) part.gateway = address_;
    to_far_.push_back(std::move(part));
    return true;
  }

  trainyard::testing::TemporaryFolder near_folder_, far_folder_;
  PollLoop loop_;
  std::deque<TunnelPart> to_far_, to_near_;
  std::string address_ = "ipc://" + far_folder_.path() + "/gateway";
  FileDescriptor gateway_ = make_socket();
  Tunnels near_{loop_, 0, near_folder_.path(), [this](const TunnelPart& part) { return send_to_far(part); }};
  Tunnels far_{loop_, 1, far_folder_.path(), [this](const TunnelPart& part) {
                 to_near_.push_back(part);
                 return true;
               }};
};

TEST_F(TunnelsTest, BytesPassInBothDirectionsAndTheEndIsReported) {
  const FileDescriptor visitor = visit();
  carry();
  FileDescriptor process = admit();
  ASSERT_TRUE(process);
  ::send(visitor.get(), "question", 8, 0);
  carry();
  EXPECT_EQ(read_from(process), "question");
  ::send(process.get(), "answer", 6, 0);
  process.reset();
  carry();
  EXPECT_EQ(read_from(visitor), "answer");
  EXPECT_EQ(read_from(visitor), std::nullopt);
  EXPECT_EQ(near_.size(), 0U);
  EXPECT_EQ(far_.size(), 0U);
}

TEST_F(TunnelsTest, AVisitorThatLeavesClosesTheConnectionToTheGateway) {
  FileDescriptor visitor = visit();
  carry();
  const FileDescriptor process = admit();
  visitor.reset();
  carry();
  EXPECT_EQ(read_from(process), std::nullopt);
  EXPECT_EQ(far_.size(), 0U);
}

TEST_F(TunnelsTest, AllOfALongTextArrives) {
  const FileDescriptor visitor = visit();
  carry();
  const FileDescriptor process = admit();
  std::string sent, received;
  for (int i = 0; sent.size() < 10 * Tunnels::kWindow; ++i) sent += std::to_string(i) + " ";
  for (std::size_t done = 0; received.size() < sent.size();) {
    const ssize_t count = ::send(process.get(), sent.data() + done, sent.size() - done, MSG_NOSIGNAL);
    if (count > 0) done += static_cast<std::size_t>(count);
    carry();
    received += read_from(visitor).value_or("");
  }
  EXPECT_EQ(received, sent);
}

// What the kernel holds for the sockets is not counted.
TEST_F(TunnelsTest, WhatAVisitorDoesNotReadStaysWithTheGatewayAndOtherVisitorsGoOn) {
  const FileDescriptor lazy = visit();
  carry();
  const FileDescriptor to_lazy = admit();
  const FileDescriptor eager = visit();
  carry();
  const FileDescriptor to_eager = admit();
  const std::string much(1 << 16, 'x');
  std::size_t taken = 0;
  for (int i = 0; i < 1000; ++i) {
    const ssize_t count = ::send(to_lazy.get(), much.data(), much.size(), MSG_NOSIGNAL);
    if (count > 0) taken += static_cast<std::size_t>(count);
    carry();
  }
  // Two sockets have a buffer of the kernel for each direction; the tunnel adds its window.
  EXPECT_LT(taken, (std::size_t{4} << 20));
  ::send(to_eager.get(), "news", 4, 0);
  carry();
  EXPECT_EQ(read_from(eager), "news");
}

TEST_F(TunnelsTest, AGatewayThatIsNotThereClosesTheConnectionOfTheVisitor) {
  for (const std::string& address : {std::string(), "ipc://" + far_folder_.path() + "/nobody"}) {
    address_ = address;
    const FileDescriptor visitor = visit();
    carry();
    EXPECT_EQ(read_from(visitor), std::nullopt) << address;
  }
  EXPECT_EQ(near_.size(), 0U);
}

TEST_F(TunnelsTest, SocketsOutsideTheRunDirectoryCannotBeReached) {
  for (const std::string& address : {"ipc://" + far_folder_.path() + "/../" + far_folder_.path() + "/gateway",
                                     "ipc://" + near_folder_.path() + "/far.7", std::string("tcp://127.0.0.1:7401"),
                                     "ipc://" + std::string(200, '/')}) {
    address_ = address;
    const FileDescriptor visitor = visit();
    carry();
    EXPECT_EQ(read_from(visitor), std::nullopt) << address;
  }
  EXPECT_FALSE(admit());
}

TEST_F(TunnelsTest, ConnectionsBeyondTheLimitAreClosedAndCounted) {
  std::vector<FileDescriptor> visitors;
  for (std::size_t i = 0; i < Tunnels::kMost + 3; ++i) {
    visitors.push_back(visit());
    carry();
  }
  EXPECT_EQ(near_.size(), Tunnels::kMost);
  EXPECT_EQ(near_.refused(), 3U);
  EXPECT_EQ(read_from(visitors.back()), std::nullopt);
  EXPECT_EQ(read_from(visitors.front()), "");
  visitors.front().reset();
  carry();
  visitors.push_back(visit());
  carry();
  EXPECT_EQ(near_.size(), Tunnels::kMost);
  EXPECT_EQ(near_.refused(), 3U);
}

TEST_F(TunnelsTest, AnEndThatSendsMoreThanItMayLosesTheTunnel) {
  const FileDescriptor visitor = visit();
  carry();
  const FileDescriptor process = admit();
  far_.handle({.near_host = 0, .far_host = 1, .number = 0, .to_far = true, .written = 1});
  EXPECT_EQ(far_.size(), 0U);
  EXPECT_EQ(read_from(process), std::nullopt);
  carry();
  EXPECT_EQ(read_from(visitor), std::nullopt);
}

TEST_F(TunnelsTest, PartsOfUnknownTunnelsAndForOtherHostsAreIgnored) {
  far_.handle({.near_host = 0, .far_host = 1, .number = 99, .to_far = true, .bytes = "x"});
  far_.handle({.near_host = 0, .far_host = 2, .number = 0, .to_far = true, .opens = true});
  far_.handle({.near_host = 1, .far_host = 0, .number = 0, .to_far = true, .opens = true});
  EXPECT_EQ(far_.size(), 0U);
  EXPECT_TRUE(to_near_.empty());
}

TEST_F(TunnelsTest, AHostThatIsLostLosesItsTunnels) {
  const FileDescriptor visitor = visit();
  carry();
  near_.lose(2);
  EXPECT_EQ(near_.size(), 1U);
  near_.lose(1);
  EXPECT_EQ(near_.size(), 0U);
  EXPECT_EQ(read_from(visitor), std::nullopt);
}

}  // namespace
}  // namespace trainyard::launch
