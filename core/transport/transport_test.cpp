// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/memory/shared_pool.h"
#include "core/testing/error_of.h"
#include "core/testing/pipe.h"
#include "core/transport/admission.h"
#include "core/transport/inlet.h"
#include "core/transport/outlet.h"
#include "core/transport/run_keys.h"
#include "messages/arena.h"
#include "messages/header.h"
#include "messages/metrics.h"

namespace trainyard::core {
namespace {

using testing::NumberSource;
using testing::Pipe;
using testing::Sink;

/// A fixture with a source, its outlet, a sink and its inlet: the two ends of a real socket, with a ring for the
/// messages ("ipc") or without ("tcp"). The same tests must pass in both cases.
class TransportTest : public ::testing::TestWithParam<const char*> {
 protected:
  TransportTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "trainyard-test-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    outlet_ = std::make_unique<Outlet>(zmq_, "ipc://" + directory_ + "/out", pipe_.loop, pool_);
    pipe_.loop.add(*outlet_);
    pipe_.activate();
  }
  ~TransportTest() override { std::filesystem::remove_all(directory_); }

  RemoteEdge& edge(Policy policy, std::uint64_t window) {
    RemoteEdge& made = outlet_->add_edge(pipe_.source.out, "numbers", 7, policy, window, 1 << 20);
    pipe_.source.out.add_edge(made);
    return made;
  }

  EdgePlan plan(std::uint64_t window) const {
    return {.id = 7, .topic = "numbers", .window_messages = window, .transport = from_name<Transport>(GetParam())};
  }

  void connect(std::uint64_t window) {
    inlet_ = std::make_unique<Inlet>(zmq_, outlet_->endpoint(), 1, pipe_.loop);
    inlet_->on_connected([this] { connected_ = true; });
    inlet_->on_error([this](InputBase&, const std::string& what) { error_ = what; });
    inlet_->subscribe(pipe_.sink.in, plan(window));
    pipe_.loop.add(*inlet_);
  }

  void send(int count) {
    for (int i = 0; i < count; ++i) pipe_.source.out.send(Scalar{.name = "n", .value = static_cast<double>(i)});
  }

  std::string directory_;
  zmq::context_t zmq_;
  SharedPool pool_;
  Pipe pipe_;
  std::unique_ptr<Outlet> outlet_;
  std::unique_ptr<Inlet> inlet_;
  bool connected_ = false;
  std::string error_;
};

class SocketTest : public TransportTest {};
class RingTest : public TransportTest {};
const auto kCarrierName = [](const auto& info) { return std::string(info.param); };
INSTANTIATE_TEST_SUITE_P(Both, TransportTest, ::testing::Values("ipc", "tcp"), kCarrierName);
INSTANTIATE_TEST_SUITE_P(Only, SocketTest, ::testing::Values("tcp"), kCarrierName);
INSTANTIATE_TEST_SUITE_P(Only, RingTest, ::testing::Values("ipc"), kCarrierName);

TEST_P(TransportTest, NothingSentBeforeTheSubscriptionIsLost) {
  edge(Policy::kBlock, 4);
  send(10);
  connect(4);
  pipe_.run_until([&] { return pipe_.sink.values.size() == 10; });
  EXPECT_TRUE(connected_);
  EXPECT_THAT(pipe_.sink.values, ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST_P(TransportTest, TheSenderStopsAtTheWindowWhileTheReceiverIsSilent) {
  RemoteEdge& out = edge(Policy::kBlock, 4);
  connect(4);
  pipe_.run_until([&] { return connected_; });
  pipe_.sink.in.pause();
  send(10);
  pipe_.run_until([&] { return out.counters().sent == 4; });
  pipe_.run_until_idle();
  EXPECT_EQ(out.counters().sent, 4u);
  EXPECT_FALSE(pipe_.source.out.ready());
  pipe_.sink.in.resume();
  pipe_.run_until([&] { return pipe_.sink.values.size() == 10; });
}

TEST_P(SocketTest, AFlushBringsBackCreditThatWasNotYetDue) {
  RemoteEdge& out = edge(Policy::kBlock, 100);
  connect(100);
  send(3);
  pipe_.run_until([&] { return pipe_.sink.values.size() == 3; });
  EXPECT_FALSE(out.drained()) << "credit goes back at half of the window";
  out.request_flush();
  pipe_.run_until([&] { return out.drained(); });
  send(1);
  pipe_.run_until([&] { return pipe_.sink.values.size() == 4 && out.drained(); });
}

TEST_P(TransportTest, ASubscriberOfAnotherTypeIsRefusedAndBothSchemasAreShown) {
  edge(Policy::kBlock, 4);
  class MetricsSink final : public Component {
   public:
    explicit MetricsSink(ComponentContext context) : Component(context) {}
    Input<Metrics> in{*this, "numbers", "", [](const auto&) {}};
  } sink(pipe_.context("metrics"));
  inlet_ = std::make_unique<Inlet>(zmq_, outlet_->endpoint(), 1, pipe_.loop);
  inlet_->on_error([this](InputBase&, const std::string& what) { error_ = what; });
  inlet_->subscribe(sink.in, plan(4));
  pipe_.loop.add(*inlet_);
  pipe_.run_until([&] { return !error_.empty(); });
  EXPECT_THAT(error_, ::testing::HasSubstr("the message types differ"));
  EXPECT_THAT(error_, ::testing::HasSubstr("f64 value"));
  EXPECT_THAT(error_, ::testing::HasSubstr("u64 total_steps"));
}

TEST(MakeSocketTest, ASocketForWhichThereIsNoRoomIsAnError) {
  zmq::context_t context(1, 1);
  const zmq::socket_t only = make_socket(context, zmq::socket_type::pair);
  const auto [code, text] = trainyard::testing::error_of([&] { make_socket(context, zmq::socket_type::pair); });
  EXPECT_EQ(code, Code::kIo);
  EXPECT_EQ(text, "cannot open a socket: Too many open files");
}

TEST_P(TransportTest, NonsenseOnTheSocketDisturbsNobody) {
  edge(Policy::kBlock, 4);
  zmq::socket_t stranger = make_socket(zmq_, zmq::socket_type::dealer);
  stranger.connect(outlet_->endpoint());
  for (const std::string& body : {std::string(), std::string("x"), std::string(1000, '\xff')}) {
    Frames frames;
    frames.emplace_back();
    frames.emplace_back(std::string_view("Subscribe"));
    frames.emplace_back(std::string_view(body));
    send_frames(stranger, frames);
    Frames lonely;
    lonely.emplace_back(std::string_view(body));
    send_frames(stranger, lonely);
    Frames many(1000);
    send_frames(stranger, many);
  }
  connect(4);
  send(5);
  pipe_.run_until([&] { return pipe_.sink.values.size() == 5; });
}

TEST_P(TransportTest, ASubscriberThatComesAgainGetsWhatWasNotYetSent) {
  RemoteEdge& out = edge(Policy::kBlock, 2);
  connect(2);
  pipe_.run_until([&] { return connected_; });
  pipe_.sink.in.pause();
  send(6);
  pipe_.run_until([&] { return out.counters().sent == 2; });
  pipe_.loop.remove(*inlet_);
  inlet_.reset();  // The first two messages are lost with the inlet; the others still wait at the sender.
  Sink second(pipe_.context("second"));
  second.transition(State::kInactive);
  second.transition(State::kActive);
  inlet_ = std::make_unique<Inlet>(zmq_, outlet_->endpoint(), 1, pipe_.loop);
  inlet_->subscribe(second.in, plan(2));
  pipe_.loop.add(*inlet_);
  pipe_.run_until([&] { return second.values.size() == 4; });
  EXPECT_THAT(second.values, ::testing::ElementsAre(2, 3, 4, 5));
}

TEST_P(RingTest, EveryCreditIsBackAsSoonAsTheMessageIsHandled) {
  RemoteEdge& out = edge(Policy::kBlock, 100);
  connect(100);
  pipe_.run_until([&] { return connected_; });
  EXPECT_TRUE(out.in_shared_memory());
  send(3);
  EXPECT_FALSE(out.drained());
  pipe_.run_until([&] { return pipe_.sink.values.size() == 3; });
  EXPECT_TRUE(out.drained());
}

/// The same fixture with a source and a sink of ArenaBlock, a message with a tensor.
class BlockTest : public TransportTest {
 protected:
  class Source final : public Component {
   public:
    explicit Source(ComponentContext context) : Component(context) {}
    Output<ArenaBlock> out{*this, "blocks", ""};
  };
  class Reader final : public Component {
   public:
    explicit Reader(ComponentContext context) : Component(context) {}
    std::vector<std::shared_ptr<const ArenaBlock>> got;
    Input<ArenaBlock> in{*this, "blocks", "", [this](const auto& block) { got.push_back(block); }};
  };

  void connect_blocks(std::uint64_t window, std::uint32_t process_index = 1) {
    for (Component* each : {static_cast<Component*>(&source_), static_cast<Component*>(&reader_)}) {
      each->transition(State::kInactive);
      each->transition(State::kActive);
    }
    source_.out.add_edge(outlet_->add_edge(source_.out, "blocks", 9, Policy::kBlock, window, 1 << 30));
    inlet_ = std::make_unique<Inlet>(zmq_, outlet_->endpoint(), process_index, pipe_.loop);
    inlet_->on_error([this](InputBase&, const std::string& what) { error_ = what; });
    EdgePlan blocks = plan(window);
    blocks.id = 9;
    inlet_->subscribe(reader_.in, blocks);
    pipe_.loop.add(*inlet_);
  }

  Source source_{pipe_.context("blocks")};
  Reader reader_{pipe_.context("reader")};
};
INSTANTIATE_TEST_SUITE_P(Both, BlockTest, ::testing::Values("ipc", "tcp"), kCarrierName);
class SharedBlockTest : public BlockTest {};
INSTANTIATE_TEST_SUITE_P(Only, SharedBlockTest, ::testing::Values("ipc"), kCarrierName);

/// Returns a tensor on the heap with the numbers 0, 1, 2, ... `count` - 1 as floats.
Tensor counting(std::int64_t count) {
  Tensor tensor{DType::kFloat32, {count}, 0, Buffer::heap(static_cast<std::size_t>(count) * sizeof(float))};
  std::iota(tensor.as<float>().begin(), tensor.as<float>().end(), 0.0f);
  return tensor;
}

TEST_P(BlockTest, BodiesAndTensorsOfAnySizeComeWhole) {
  connect_blocks(4);
  const std::vector<std::int64_t> counts = {0, 1, 3, 900, 1025, 300000};
  const std::vector<std::size_t> names = {0, 5, 4095, 4097, 70000, 200000};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    source_.out.send(ArenaBlock{.name = std::string(names[i], 'n'), .data = counting(counts[i])});
  }
  pipe_.run_until([&] { return reader_.got.size() == counts.size() || !error_.empty(); });
  ASSERT_EQ(error_, "");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    EXPECT_EQ(reader_.got[i]->name, std::string(names[i], 'n'));
    const Tensor expected = counting(counts[i]);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(reader_.got[i]->data.as<float>().data()) % alignof(double), 0u) << i;
    EXPECT_THAT(reader_.got[i]->data.as<float>(), ::testing::ElementsAreArray(expected.as<float>()));
  }
}

TEST_P(BlockTest, MoreThanTheRingHoldsWaitsAndArrivesInOrder) {
  connect_blocks(10000);
  constexpr int kMessages = 500;  // Together these messages have 2 MB, thirty times the size of a ring.
  for (int i = 0; i < kMessages; ++i) {
    source_.out.send(ArenaBlock{.name = std::to_string(i) + std::string(4000, ' ')});
  }
  pipe_.run_until([&] { return reader_.got.size() == kMessages; });
  for (int i = 0; i < kMessages; ++i) ASSERT_EQ(std::stoi(reader_.got[static_cast<std::size_t>(i)]->name), i);
}

TEST_P(SharedBlockTest, ATensorInSharedMemoryArrivesWithoutACopy) {
  connect_blocks(4);
  Tensor tensor{DType::kFloat32, {1024}, 0, pool_.allocate(4096)};
  tensor.as<float>()[5] = 1.5f;
  const auto written = tensor.as<float>();
  source_.out.send(ArenaBlock{.name = "x", .data = std::move(tensor)});
  pipe_.run_until([&] { return !reader_.got.empty(); });
  const auto there = reader_.got.front()->data.as<float>();
  EXPECT_EQ(there[5], 1.5f);
  EXPECT_NE(there.data(), written.data()) << "another mapping";
  written[5] = 2.5f;
  EXPECT_EQ(there[5], 2.5f) << "of the same memory";
}

// Shared memory has counters for 256 processes only. Memory that is not counted needs no counter.
TEST_P(SharedBlockTest, AProcessWithALargeIndexGetsCopiesOfMemoryThatIsUsedAgain) {
  connect_blocks(4, 300);
  const auto block = [](const Buffer& memory) {
    Tensor tensor{DType::kFloat32, {1 << 18}, 0, memory};
    tensor.as<float>()[5] = 1.5f;
    return ArenaBlock{.name = std::string(70000, 'n'), .data = std::move(tensor)};
  };
  const Buffer counted = pool_.allocate(1 << 20), permanent = pool_.allocate_permanent(1 << 20);
  source_.out.send(block(counted));
  source_.out.send(block(permanent));
  pipe_.run_until([&] { return reader_.got.size() == 2 || !error_.empty(); });
  ASSERT_EQ(error_, "");
  EXPECT_FALSE(outlet_->edges().back()->in_shared_memory());
  for (const auto& got : reader_.got) {
    EXPECT_EQ(got->name, std::string(70000, 'n'));
    EXPECT_EQ(got->data.as<float>()[5], 1.5f);
  }
  for (const Buffer& memory : {counted, permanent}) reinterpret_cast<float*>(memory.data())[5] = 2.5f;
  EXPECT_EQ(reader_.got[0]->data.as<float>()[5], 1.5f);
  EXPECT_EQ(reader_.got[1]->data.as<float>()[5], 2.5f) << "the same memory";
}

/// A publisher without outputs that accepts all subscriptions. It can close its connections, and listen again at the
/// same address.
class Publisher {
 public:
  Publisher(zmq::context_t& context, RunKeys keys) : context_(context), keys_(std::move(keys)) {
    listen("tcp://127.0.0.1:*");
  }

  const std::string& endpoint() const { return endpoint_; }
  /// Closes the socket, so that all connections are lost.
  void close() { socket_.close(); }
  /// Listens again. Returns false as long as the address is not free.
  bool listen_again() {
    try {
      listen(endpoint_);
      return true;
    } catch (const Error&) {
      return false;
    }
  }
  /// Answers the subscriptions that have arrived, and returns the number of all that have ever arrived.
  std::size_t subscriptions() {
    Frames frames;
    while (receive_frames(socket_, frames)) {
      if (frames.size() < 4 || frames[2].to_string() != Subscribe::kTypeName) continue;
      const auto request = read_message<Subscribe>(frames[3]);
      send_control(socket_, frames[0].to_string_view(),
                   Subscribed{.subscription = request.subscription, .topic = request.topic});
      ++subscriptions_;
    }
    return subscriptions_;
  }

 private:
  void listen(const std::string& address) {
    socket_ = make_socket(context_, zmq::socket_type::router);
    accept_members(context_, socket_, keys_);
    endpoint_ = bind_socket(socket_, address);
  }

  zmq::context_t& context_;
  RunKeys keys_;
  zmq::socket_t socket_;
  std::string endpoint_;
  std::size_t subscriptions_ = 0;
};

/// A fixture with a publisher whose connections the test closes, and inlets that report a lost connection immediately.
class ReconnectTest : public ::testing::Test {
 protected:
  ReconnectTest() {
    pipe_.loop.add(admission_);
    pipe_.activate();
  }

  /// Returns an inlet that is connected.
  std::unique_ptr<Inlet> inlet(InputBase& input, std::uint32_t edge, Policy policy, std::string& error) {
    auto made =
        std::make_unique<Inlet>(zmq_, publisher_.endpoint(), 1, pipe_.loop, keys_, std::chrono::milliseconds(0));
    made->on_error([&error](InputBase&, const std::string& what) { error = what; });
    made->subscribe(input,
                    {.id = edge, .topic = "/numbers", .policy = policy, .transport = trainyard::Transport::kTcp});
    pipe_.loop.add(*made);
    pipe_.run_until([&] {
      publisher_.subscriptions();
      return made->connected();
    });
    return made;
  }

  zmq::context_t zmq_;
  RunKeys keys_ = RunKeys::make();
  Admission admission_{zmq_, {keys_.public_key}};
  Pipe pipe_;
  Publisher publisher_{zmq_, keys_};
};

TEST_F(ReconnectTest, ASubscriptionWhoseMessagesMayBeLostIsMadeAgain) {
  for (const auto& [edge, policy] : {std::pair(kVisitorEdge, Policy::kDropOldest), std::pair(7u, Policy::kLatest)}) {
    std::string error;
    const auto made = inlet(pipe_.sink.in, edge, policy, error);
    const std::size_t before = publisher_.subscriptions();
    publisher_.close();
    pipe_.run_until([&] { return publisher_.listen_again(); });
    pipe_.run_until([&] { return publisher_.subscriptions() == before + 1; });
    EXPECT_EQ(error, "");
    pipe_.loop.remove(*made);
  }
}

// Without an error, the run would stand still, because the messages that were under way are never handled.
TEST_F(ReconnectTest, ALostConnectionIsAnErrorIfNoMessageMayBeLostAndThePublisherHasNotDied) {
  Sink inactive(pipe_.context("inactive"));
  std::string retired_error, inactive_error, error;
  const auto retired = inlet(pipe_.sink.in, 1, Policy::kBlock, retired_error);
  const auto ending = inlet(inactive.in, 2, Policy::kBlock, inactive_error);
  const auto active = inlet(pipe_.sink.in, 3, Policy::kBlock, error);
  retired->retire();
  publisher_.close();
  pipe_.run_until([&] { return !error.empty(); });
  EXPECT_EQ(error, "the connection to " + publisher_.endpoint() +
                       " was lost, and messages of topic '/numbers' to the input 'numbers' with it");
  EXPECT_EQ(retired_error, "");
  EXPECT_EQ(inactive_error, "");
}

TEST(AddressTest, OnlyThisMachineIsAllowed) {
  EXPECT_NO_THROW(check_address("ipc:///tmp/x"));
  EXPECT_NO_THROW(check_address("tcp://127.0.0.1:*"));
  for (const char* address : {"tcp://0.0.0.0:5555", "tcp://*:5555", "tcp://192.168.1.2:5", "udp://127.0.0.1:1"}) {
    try {
      check_address(address);
      ADD_FAILURE() << address << " was allowed";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kUnsupported);
      EXPECT_THAT(error.what(), ::testing::HasSubstr("without keys, only ipc and tcp on 127.0.0.1 are allowed"));
    }
  }
}

}  // namespace
}  // namespace trainyard::core
