// SPDX-License-Identifier: Apache-2.0
#include "core/transport/connection_limit.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "core/testing/pipe.h"
#include "core/testing/temporary_folder.h"
#include "core/transport/frames.h"

namespace trainyard::core {
namespace {

using testing::Pipe;

class ConnectionLimitTest : public ::testing::Test {
 protected:
  ConnectionLimitTest() {
    limit_.bind("ipc://" + folder_.path() + "/door");
    pipe_.loop.add(limit_);
  }
  ~ConnectionLimitTest() override { pipe_.loop.remove(limit_); }

  zmq::socket_t connection() {
    zmq::socket_t made = make_socket(zmq_, zmq::socket_type::dealer);
    made.connect(limit_.endpoint());
    return made;
  }

  testing::TemporaryFolder folder_;
  zmq::context_t zmq_;
  Pipe pipe_;
  zmq::socket_t door_ = make_socket(zmq_, zmq::socket_type::router);
  ConnectionLimit limit_{zmq_, door_, 8};
};

TEST_F(ConnectionLimitTest, ClosesAllConnectionsAtTheLimitAndListensAgainWhenTheyHaveGone) {
  std::vector<zmq::socket_t> many;
  for (int i = 0; i < 20; ++i) many.push_back(connection());
  pipe_.run_until([&] { return !limit_.listening(); });
  many.clear();
  pipe_.run_until([&] { return limit_.listening() && limit_.connections() == 0; });
  zmq::socket_t late = connection();
  Frames hello, heard;
  hello.emplace_back(std::string_view("hello"));
  send_frames(late, hello);
  pipe_.run_until([&] { return receive_frames(door_, heard); });
  EXPECT_EQ(heard[1].to_string(), "hello");
}

TEST_F(ConnectionLimitTest, CountsConnectionsThatDoNotSpeakTheProtocol) {
  const zmq::socket_t friendly = connection();
  pipe_.run_until([&] { return limit_.connections() == 1; });
  EXPECT_EQ(limit_.refused(), 0u);
  const int stranger = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  (folder_.path() + "/door").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::connect(stranger, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::string nonsense = "GET / HTTP/1.1\r\n\r\n" + std::string(100, 'x');
  EXPECT_EQ(::write(stranger, nonsense.data(), nonsense.size()), static_cast<ssize_t>(nonsense.size()));
  ::close(stranger);
  pipe_.run_until([&] { return limit_.refused() != 0; });
}

TEST(DescriptorLimitTest, IsRaisedToTheMostThatTheSystemAllows) { EXPECT_GE(raise_descriptor_limit(), 256u); }

}  // namespace
}  // namespace trainyard::core
