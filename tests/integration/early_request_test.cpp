// SPDX-License-Identifier: Apache-2.0
// Tests questions that reach a process before its plan, because the launcher's registry passes questions on as soon as
// the process is connected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <zmq.hpp>

#include "messages/control.h"
#include "messages/message_type.h"
#include "tests/integration/launch_fixture.h"

namespace trainyard::testing {
namespace {

using ::testing::HasSubstr;

/// Imitates the launcher's side of the connection.
class EarlyRequestTest : public LaunchTest {
 protected:
  EarlyRequestTest() {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::rcvtimeo, 30'000);
    socket_.bind(endpoint_);
  }

  std::string frame() {
    zmq::message_t message;
    if (!socket_.recv(message)) ADD_FAILURE() << "nothing came before the deadline";
    return message.to_string();
  }

  /// Returns the next message of type T and skips all messages before it.
  template <Message T>
  T receive() {
    T message;
    for (std::string type; type != T::kTypeName && !HasFailure();) {
      frame();  // This frame is the name of the process.
      type = frame();
      const std::string body = frame();
      if (type == T::kTypeName) decode(message, std::as_bytes(std::span(body)));
    }
    return message;
  }

  template <Message T>
  void send(const T& message) {
    std::string body;
    std::vector<Buffer> none;
    encode(message, body, none);
    socket_.send(zmq::str_buffer("main"), zmq::send_flags::sndmore);
    socket_.send(zmq::buffer(std::string(T::kTypeName)), zmq::send_flags::sndmore);
    socket_.send(zmq::buffer(body), zmq::send_flags::none);
  }

  zmq::context_t context_;
  zmq::socket_t socket_{context_, zmq::socket_type::router};
  std::string endpoint_ = "ipc://" + (directory_ / "control").string();
};

TEST_F(EarlyRequestTest, AProcessWithoutAPlanAnswers) {
  Command process({TRAINYARD_PROCESS, "--control", endpoint_, "--process", "main"}, directory_);
  EXPECT_EQ(receive<Hello>().process, "main");
  send(Request{.id = 1, .target = "", .method = "counters", .body = "{}"});
  const Reply counters = receive<Reply>();
  EXPECT_TRUE(counters.ok) << process.all();
  EXPECT_THAT(counters.body, HasSubstr(R"("edges":[])"));
  send(Request{.id = 2, .target = "optimizer", .method = "param.list", .body = "{}"});
  EXPECT_EQ(receive<Reply>().body, "no component 'optimizer' in process 'main'");
  EXPECT_TRUE(process.running());
}

}  // namespace
}  // namespace trainyard::testing
