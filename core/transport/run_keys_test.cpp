// SPDX-License-Identifier: Apache-2.0
#include "core/transport/run_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/error_of.h"
#include "core/testing/pipe.h"
#include "core/transport/admission.h"
#include "core/transport/inlet.h"
#include "core/transport/outlet.h"

namespace trainyard::core {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::Pipe;

template <class Action>
std::string error_of(Action&& action) {
  return testing::error_of(action).second;
}

TEST(RunKeysTest, EveryRunHasKeysOfItsOwnWhichTravelAsText) {
  const RunKeys keys = RunKeys::make();
  EXPECT_NE(keys.secret_key, RunKeys::make().secret_key);
  const RunKeys read = RunKeys::read(keys.text());
  EXPECT_EQ(read.public_key, keys.public_key);
  EXPECT_EQ(read.secret_key, keys.secret_key);
  EXPECT_TRUE(RunKeys::read("").empty());
}

TEST(RunKeysTest, BrokenKeysAreRefusedWithoutBeingShown) {
  const std::string error = error_of([] { RunKeys::read("sesame"); });
  EXPECT_EQ(error, "the keys of the run have 6 characters; 80 are needed");
}

TEST(RunKeysTest, OverTcpNothingStartsWithoutKeys) {
  EXPECT_THAT(error_of([] { check_member_address("tcp://127.0.0.1:*", {}); }), HasSubstr("this process has none"));
  EXPECT_NO_THROW(check_member_address("tcp://127.0.0.1:*", RunKeys::make()));
  EXPECT_NO_THROW(check_member_address("ipc:///tmp/x", {}));
  EXPECT_NO_THROW(check_member_address("tcp://10.0.0.1:5", RunKeys::make()));
  EXPECT_THAT(error_of([] { check_member_address("tcp://10.0.0.1:5", {}); }), HasSubstr("this process has none"));
  EXPECT_THAT(error_of([] { check_member_address("udp://10.0.0.1:5", RunKeys::make()); }), HasSubstr("refused"));
}

/// A fixture with an edge over TCP that is protected by the keys of a run. Without keys, a stranger would need only the
/// number of the edge to subscribe.
class MembersTest : public ::testing::Test {
 protected:
  MembersTest() {
    pipe_.loop.add(admission_);
    pipe_.loop.add(outlet_);
    pipe_.activate();
    pipe_.source.out.add_edge(outlet_.add_edge(pipe_.source.out, "numbers", 7, Policy::kBlock, 4, 1 << 20));
  }
  ~MembersTest() override { pipe_.loop.remove(outlet_); }

  EdgePlan plan() const { return {.id = 7, .topic = "numbers", .window_messages = 4, .transport = Transport::kTcp}; }

  /// Makes an inlet that subscribes with these keys, as the planned receiver would.
  std::unique_ptr<Inlet> inlet(const RunKeys& keys) {
    auto made = std::make_unique<Inlet>(zmq_, outlet_.endpoint(), 1, pipe_.loop, keys);
    made->subscribe(pipe_.sink.in, plan());
    pipe_.loop.add(*made);
    return made;
  }

  zmq::context_t zmq_;
  RunKeys keys_ = RunKeys::make();
  Admission admission_{zmq_, {keys_.public_key}};
  SharedPool pool_;
  Pipe pipe_;
  Outlet outlet_{zmq_, "tcp://127.0.0.1:*", pipe_.loop, pool_, keys_};
};

TEST_F(MembersTest, AMemberReceivesOverTcp) {
  const auto member = inlet(keys_);
  pipe_.source.out.send(Scalar{.name = "n", .value = 1});
  pipe_.run_until([&] { return pipe_.sink.values.size() == 1; });
  EXPECT_EQ(admission_.refused(), 0u);
  pipe_.loop.remove(*member);
}

TEST_F(MembersTest, AStrangerWithKeysOfItsOwnCannotTakeAnEdgeOver) {
  // The stranger knows the address, the number of the edge and the public key of the run.
  RunKeys own = RunKeys::make();
  zmq::socket_t thief = make_socket(zmq_, zmq::socket_type::dealer);
  thief.set(zmq::sockopt::curve_publickey, own.public_key);
  thief.set(zmq::sockopt::curve_secretkey, own.secret_key);
  thief.set(zmq::sockopt::curve_serverkey, keys_.public_key);
  thief.connect(outlet_.endpoint());
  send_control(thief, {}, Subscribe{.topic = "numbers", .edge = 7, .payloads = "inline"});
  pipe_.run_until([&] { return admission_.refused() > 0; });
  const auto member = inlet(keys_);
  for (int i = 0; i < 4; ++i) pipe_.source.out.send(Scalar{.name = "n", .value = static_cast<double>(i)});
  pipe_.run_until([&] { return pipe_.sink.values.size() == 4; });
  Frames frames;
  EXPECT_FALSE(receive_frames(thief, frames));
  pipe_.loop.remove(*member);
}

TEST_F(MembersTest, AStrangerWithoutKeysIsNotHeard) {
  zmq::socket_t plain = make_socket(zmq_, zmq::socket_type::dealer);
  zmq::socket_t watch(zmq_, zmq::socket_type::pair);
  ASSERT_EQ(zmq_socket_monitor(plain.handle(), "inproc://watch",
                               ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                                   ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED),
            0);
  watch.connect("inproc://watch");
  plain.connect(outlet_.endpoint());
  send_control(plain, {}, Subscribe{.topic = "numbers", .edge = 7, .payloads = "inline"});
  Frames event;
  pipe_.run_until([&] { return receive_frames(watch, event); });
  std::uint16_t number = 0;
  std::memcpy(&number, event[0].data(), sizeof number);
  EXPECT_NE(number, ZMQ_EVENT_HANDSHAKE_SUCCEEDED);
  EXPECT_FALSE(pipe_.source.out.edges().front()->ready()) << "nobody has subscribed";
}

TEST(AdmissionTest, WithoutAListNoSocketForMembersIsMade) {
  zmq::context_t zmq;
  SharedPool pool;
  Pipe pipe;
  EXPECT_EQ(error_of([&] { Outlet(zmq, "tcp://127.0.0.1:*", pipe.loop, pool, RunKeys::make()); }),
            "a socket for members was made before the Admission that examines their keys");
}

TEST(AdmissionTest, AKeyThatIsNoneIsRefused) {
  zmq::context_t zmq;
  EXPECT_EQ(error_of([&] { Admission(zmq, {"short"}); }), "a public key of 5 characters; 40 of Z85 are needed");
}

}  // namespace
}  // namespace trainyard::core
