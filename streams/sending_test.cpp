// SPDX-License-Identifier: Apache-2.0
#include "streams/sending.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <optional>
#include <thread>
#include <vector>

#include "streams/network.h"

namespace trainyard::streams {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class SendingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Listener listener("127.0.0.1", {});
    Socket from = connect_to(listener.endpoint());
    std::string address;
    Socket to;
    for (const auto until = Clock::now() + 10s; to.empty(); to = listener.accept(address)) {
      ASSERT_LT(Clock::now(), until);
    }
    there_.emplace(std::move(to), "the receiver");
    here_.emplace(std::move(from), "the sender");
  }

  /// Sends `bytes` bytes, and reads them on the other side if `reads`, until the sender's kernel knows that `arriving`
  /// of them have arrived.
  void send(std::size_t bytes, std::uint64_t arriving, bool reads) {
    std::vector<std::byte> data(bytes), taken(1 << 20);
    std::size_t sent = 0;
    const auto until = Clock::now() + 30s;
    while (sending_of(*here_).bytes < arriving) {
      ASSERT_LT(Clock::now(), until);
      here_->note(EPOLLOUT);
      iovec piece{data.data() + sent, bytes - sent};
      if (sent < bytes) sent += here_->write(std::span(&piece, 1));
      there_->note(EPOLLIN);
      iovec place{taken.data(), taken.size()};
      if (reads) there_->read(std::span(&place, 1));
    }
  }

  std::optional<Connection> here_, there_;
};

TEST_F(SendingTest, ALimitOfTheSpeedShowsInTheTimeThatSendingTakes) {
  const unsigned limit = 4 << 20;
  ASSERT_EQ(::setsockopt(here_->fd(), SOL_SOCKET, SO_MAX_PACING_RATE, &limit, sizeof limit), 0);
  constexpr std::size_t kBytes = 4 << 20;
  send(kBytes, kBytes, true);
  const Sending sending = sending_of(*here_);
  EXPECT_GE(sending.bytes, kBytes);
  EXPECT_LE(sending.bytes, kBytes + 1);  // Linux counts the beginning of the connection as a byte.
  EXPECT_GT(sending.round_trip, 0us);
  // Linux does not slow down the first ten segments, which have at most 64 KiB each. The others take 0.84 s.
  EXPECT_GT(sending.limited_by_network, 500ms);
}

TEST_F(SendingTest, TheTimeInWhichTheOtherSideHasNoRoomDoesNotCount) {
  const int small = 16 << 10;
  ASSERT_EQ(::setsockopt(there_->fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
  send(8 << 20, small / 2, false);
  // What is left to send waits for the other side to read.
  const auto begin = Clock::now();
  const auto before = sending_of(*here_).limited_by_network;
  while (Clock::now() - begin < 300ms) std::this_thread::yield();
  EXPECT_LT(sending_of(*here_).limited_by_network - before, (Clock::now() - begin) / 2);
}

}  // namespace
}  // namespace trainyard::streams
