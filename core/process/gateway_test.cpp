// SPDX-License-Identifier: Apache-2.0
#include "core/process/gateway.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <sstream>
#include <vector>

#include "core/memory/shared_pool.h"
#include "core/testing/pipe.h"
#include "core/testing/temporary_folder.h"
#include "core/transport/frames.h"
#include "messages/batch.h"
#include "messages/header.h"
#include "messages/limits.h"

namespace trainyard::core {
namespace {

TEST(GatewayTest, MemoryThatAVisitorHasMadeThePoolTakeIsGivenBack) {
  testing::TemporaryFolder folder;
  zmq::context_t sockets;
  SharedPool pool;
  testing::Pipe pipe;
  ComponentContext context = pipe.context("process 'a'");
  context.pool = &pool;
  Gateway gateway(context, sockets, "ipc://" + folder.path("gateway"),
                  [](const std::string&) { return std::vector<OutputBase*>{}; });
  pool.allocate(4096);
  const std::size_t before = pool.reserved_bytes();
  {
    // A visitor that does not read keeps memory in use that would otherwise be reused.
    std::vector<Buffer> kept;
    for (int i = 0; i < 50; ++i) kept.push_back(pool.allocate(4096));
  }
  for (int i = 0; i < 100; ++i) pool.allocate(4096);
  EXPECT_GT(pool.reserved_bytes(), before);
  pipe.run_until([&] { return pool.reserved_bytes() == before; });
}

/// A component that sends messages with any number of payloads.
class BatchSource final : public Component {
 public:
  explicit BatchSource(ComponentContext context) : Component(context) {}
  Output<Batch> out{*this, "batches", ""};
};

/// A fixture with a gateway on the control loop, two components on a loop of their own, and a visitor. The test decides
/// when the loops run. The visitor's messages arrive at once, because it is in the same process.
class VisitedGatewayTest : public ::testing::Test {
 protected:
  VisitedGatewayTest() {
    ComponentContext context = testing::Pipe::context("process 'a'", control_);
    context.pool = &pool_;
    context.log = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(said_));
    gateway_ = std::make_unique<Gateway>(context, sockets_, "inproc://gateway",
                                         [this](const std::string& topic) -> std::vector<OutputBase*> {
                                           if (topic == "/numbers") return {&pipe_.source.out};
                                           return {&batches_.out};
                                         });
    visitor_.connect(gateway_->endpoint());
  }

  template <Message T>
  void say(const T& message) {
    send_control(visitor_, {}, message);
  }

  /// Subscribes, and waits until the component sends its messages to the gateway.
  void subscribe(const std::string& topic, const OutputBase& output) {
    accepted_ = false;
    say(Subscribe{.topic = topic});
    run_until([&] { return accepted_ && output.connections() == 1; });
  }

  void run_until(const std::function<bool()>& done) {
    pipe_.run_until([&] {
      control_.run_once();
      read();
      return done();
    });
  }

  void read() {
    for (Frames frames; receive_frames(visitor_, frames);) {
      if (frames.size() < 3) continue;
      if (frames[0].size() == 0) {
        accepted_ |= frames[1].to_string() == Subscribed::kTypeName;
      } else {
        const auto* header = static_cast<const std::byte*>(frames[1].data());
        sequences_.push_back(read_header({header, frames[1].size()}).sequence);
      }
    }
  }

  std::ostringstream said_;
  zmq::context_t sockets_;
  SharedPool pool_;
  EventLoop control_{"control"};
  testing::Pipe pipe_;
  BatchSource batches_{pipe_.context("batches")};
  std::unique_ptr<Gateway> gateway_;
  zmq::socket_t visitor_ = make_socket(sockets_, zmq::socket_type::dealer);
  bool accepted_ = false;
  std::vector<std::uint64_t> sequences_;  ///< The sequence numbers of the messages that the visitor has received.
};

TEST_F(VisitedGatewayTest, AMessageThatCannotBeEncodedIsDroppedAndLaterOnesArrive) {
  subscribe("/batches", batches_.out);
  Batch large;
  for (std::size_t i = 0; i <= kMaxPayloads; ++i) {
    large.tensors.push_back({DType::kFloat32, {2}, 0, Buffer::heap(2 * sizeof(float))});
  }
  batches_.out.send(large);
  batches_.out.send(large);
  batches_.out.send(Batch());
  run_until([&] { return !sequences_.empty(); });
  EXPECT_THAT(sequences_, ::testing::ElementsAre(2));
  ASSERT_EQ(gateway_->counters().size(), 1u);
  EXPECT_EQ(gateway_->counters().front().dropped, 2u);
  const std::string warning =
      "a message of topic '/batches' is missing for programs that listen to it: a message refers to more than 64 "
      "distinct buffers";
  const std::size_t first = said_.str().find(warning);
  EXPECT_NE(first, std::string::npos) << said_.str();
  EXPECT_EQ(said_.str().find(warning, first + 1), std::string::npos) << "one warning for each topic is enough";
}

TEST_F(VisitedGatewayTest, AVisitorGetsNoMessagesThatWaitedForAnEarlierVisitor) {
  subscribe("/numbers", pipe_.source.out);
  // More than fits into the ring to the gateway, so the last messages wait for room.
  constexpr std::uint64_t kMessages = 200;
  for (std::uint64_t i = 0; i < kMessages; ++i) pipe_.source.out.send(Scalar{.name = "n"});
  say(Unsubscribe{});
  control_.run_once();  // In one round, the gateway takes only a part of the messages out of the ring.
  pipe_.loop.run_once();
  ASSERT_EQ(pipe_.source.out.connections(), 0u);
  control_.run_once();
  read();
  sequences_.clear();
  subscribe("/numbers", pipe_.source.out);
  pipe_.source.out.send(Scalar{.name = "n"});
  run_until([&] { return !sequences_.empty(); });
  EXPECT_THAT(sequences_, ::testing::ElementsAre(kMessages));
}

}  // namespace
}  // namespace trainyard::core
