// SPDX-License-Identifier: Apache-2.0
#include "components/front_door/reception.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/testing/flood.h"
#include "core/testing/temporary_folder.h"
#include "core/transport/frames.h"
#include "messages/subscription.h"

namespace trainyard::front_door {
namespace {

using core::Key;
using core::Role;
using nlohmann::json;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

/// A front door on this thread, with a simulated registry that stores the questions that it gets, and various allowed
/// and unknown visitors.
class ReceptionTest : public ::testing::Test {
 protected:
  ReceptionTest() {
    registry_.set(zmq::sockopt::linger, 0);
    registry_.bind(address_);
    reception_.open(address_);
  }

  static core::AllowList allowed(const Key& watcher, const Key& controller) {
    core::AllowList list;
    list.add(watcher);
    list.add(controller);
    return list;
  }

  /// Runs the event loop of the front door until the condition is true. Fails at a deadline.
  template <class Condition>
  void run_until(Condition&& condition) {
    const auto until = Clock::now() + std::chrono::seconds(60);
    while (!condition()) {
      ASSERT_LT(Clock::now(), until) << "in vain";
      hear_registry();
      if (!loop_.run_once()) loop_.wait(std::chrono::milliseconds(1));
    }
  }

  /// Takes the questions that have reached the simulated registry. Answers the front door's own question about the
  /// topics.
  void hear_registry() {
    core::Frames frames;
    while (core::receive_frames(registry_, frames)) {
      const json question = json::parse(frames.at(1).to_string_view());
      if (question.size() == 2 && question["op"] == "topics") {
        answer(frames.at(0).to_string(), {{"id", question["id"]}, {"ok", true}, {"result", topics_}});
      } else {
        heard_.push_back({frames.at(0).to_string(), question});
      }
    }
  }

  void answer(const std::string& asker, const json& reply) {
    core::Frames frames;
    frames.emplace_back(std::string_view(asker));
    frames.emplace_back(std::string_view(reply.dump()));
    core::send_frames(registry_, frames);
  }

  zmq::socket_t stranger() {
    zmq::socket_t socket = core::make_socket(outside_, zmq::socket_type::dealer);
    socket.set(zmq::sockopt::linger, 0);
    return socket;
  }

  void connect_as(zmq::socket_t& socket, const Key& own, const Key& host) {
    socket.set(zmq::sockopt::curve_publickey, own.text);
    socket.set(zmq::sockopt::curve_secretkey, own.secret);
    socket.set(zmq::sockopt::curve_serverkey, host.text);
    socket.connect(reception_.endpoint());
  }

  zmq::socket_t visitor(const Key& own, const Key& host) {
    zmq::socket_t socket = stranger();
    connect_as(socket, own, host);
    return socket;
  }

  /// Returns the description of a topic that so many processes publish, none of which can be reached.
  json topic_of(const std::string& name, std::size_t processes) const {
    json publishers = json::array();
    for (std::size_t i = 0; i < processes; ++i) {
      publishers.push_back(
          {{"process", "p"}, {"endpoint", fmt::format("ipc://{}", folder_.path(fmt::format("{}", i)))}});
    }
    return {{"topic", name}, {"schema", "T {\n}\n"}, {"publishers", publishers}};
  }

  /// Subscribes to a topic under this number, and returns the error of the answer.
  std::string error_of_subscription(zmq::socket_t& socket, std::uint32_t number, const std::string& topic) {
    core::send_control(socket, "", Subscribe{.subscription = number, .topic = topic});
    core::Frames frames;
    run_until([&] {
      return core::receive_frames(socket, frames) && frames.size() == 3 &&
             frames[1].to_string_view() == Subscribed::kTypeName;
    });
    return frames.size() == 3 ? core::read_message<Subscribed>(frames[2]).error : "no answer";
  }

  static void ask(zmq::socket_t& socket, const json& question) {
    socket.send(zmq::buffer(question.dump()), zmq::send_flags::none);
  }

  /// Waits for the next answer and returns it.
  json next_answer(zmq::socket_t& socket) {
    core::Frames frames;
    run_until([&] { return core::receive_frames(socket, frames) && frames.size() == 1 && frames[0].size() != 0; });
    return json::parse(frames.at(0).to_string_view());
  }

  Key host_ = Key::make("host", Role::kMember);
  Key watcher_ = Key::make("laptop", Role::kWatch);
  Key controller_ = Key::make("desk", Role::kControl);
  trainyard::testing::TemporaryFolder folder_;
  std::string address_ = "ipc://" + folder_.path("registry");
  zmq::context_t inside_, outside_;
  zmq::socket_t registry_{inside_, zmq::socket_type::router};
  json topics_ = json::array();  ///< The registry's answer to the front door's own question about the topics.
  std::deque<std::pair<std::string, json>> heard_;  ///< The questions that the registry has got, each with its asker.
  std::vector<std::string> warnings_;
  core::EventLoop loop_{"test"};
  Reception reception_{loop_, "tcp://127.0.0.1:*", host_, allowed(watcher_, controller_),
                       [this](const std::string& text) { warnings_.push_back(text); }};
};

TEST_F(ReceptionTest, AQuestionAndItsAnswerPassWithTheVisitorsNumber) {
  zmq::socket_t laptop = visitor(watcher_, host_);
  ask(laptop, {{"id", "mine"}, {"op", "nodes"}});
  run_until([&] { return !heard_.empty(); });
  EXPECT_EQ(heard_.front().second["op"], "nodes");
  answer(heard_.front().first, {{"id", heard_.front().second["id"]}, {"ok", true}, {"result", 7}});
  EXPECT_EQ(next_answer(laptop), json({{"id", "mine"}, {"ok", true}, {"result", 7}}));
}

TEST_F(ReceptionTest, AllTopicsArePublishedAtTheDoor) {
  zmq::socket_t laptop = visitor(watcher_, host_);
  ask(laptop, {{"id", 1}, {"op", "topics"}, {"of", "this visitor"}});
  run_until([&] { return !heard_.empty(); });
  const json publishers = {{{"process", "main"}, {"endpoint", "ipc:///run/main"}},
                           {{"process", "b"}, {"endpoint", ""}}};
  answer(heard_.front().first, {{"id", heard_.front().second["id"]},
                                {"ok", true},
                                {"result", {{{"topic", "/t"}, {"schema", "T {\n}\n"}, {"publishers", publishers}}}}});
  const json told = next_answer(laptop)["result"][0]["publishers"];
  EXPECT_EQ(told[0]["endpoint"], "door");
  EXPECT_EQ(told[1]["endpoint"], "") << "this process is still starting";
}

TEST_F(ReceptionTest, AChangeByAKeyThatMayWatchIsRefusedAndCountedAndReachesNobody) {
  zmq::socket_t laptop = visitor(watcher_, host_);
  const json change = {{"id", 1}, {"op", "call"}, {"target", "optimizer"}, {"method", "param.set"}};
  ask(laptop, change);
  const json refused = next_answer(laptop);
  EXPECT_EQ(refused["ok"], false);
  EXPECT_THAT(refused["error"].get<std::string>(), HasSubstr("the key 'laptop' has the role watch"));
  EXPECT_EQ(reception_.refusals().requests, 1u);
  zmq::socket_t desk = visitor(controller_, host_);
  ask(desk, change);
  run_until([&] { return !heard_.empty(); });
  EXPECT_EQ(heard_.size(), 1u) << "only the question of the key that may control";
}

TEST_F(ReceptionTest, StrangersAreRefusedAndCounted) {
  const Key unknown = Key::make("unknown", Role::kControl);
  Key forged = controller_;  // The public key of an allowed visitor, without its secret.
  forged.secret = unknown.secret;
  zmq::socket_t plain = stranger();
  plain.set(zmq::sockopt::plain_username, "laptop");
  plain.set(zmq::sockopt::plain_password, "sesame");
  plain.connect(reception_.endpoint());
  zmq::socket_t null = stranger();
  null.connect(reception_.endpoint());
  zmq::socket_t with_unknown = visitor(unknown, host_);
  zmq::socket_t with_forged = visitor(forged, host_);
  zmq::socket_t of_other_run = visitor(watcher_, Key::make("other", Role::kMember));
  for (zmq::socket_t* socket : {&plain, &null, &with_unknown, &with_forged, &of_other_run}) {
    // Without waiting: libzmq gives up a connection whose handshake fails, and nothing can be sent any more.
    socket->send(zmq::str_buffer(R"({"id": 1, "op": "nodes"})"), zmq::send_flags::dontwait);
  }
  run_until([&] { return reception_.refusals().connections >= 5; });
  run_until([&] { return !warnings_.empty(); });
  EXPECT_THAT(warnings_.front(), HasSubstr("refused so far: connections without an admitted key: "));
  // Allowed visitors are still served, and no question of the others has reached the registry.
  zmq::socket_t laptop = visitor(watcher_, host_);
  ask(laptop, {{"id", 1}, {"op", "run"}});
  run_until([&] { return !heard_.empty(); });
  ASSERT_EQ(heard_.size(), 1u);
  EXPECT_EQ(heard_.front().second["op"], "run");
}

TEST_F(ReceptionTest, NeitherAFloodOfStrangersNorOneThatDoesNotReadDisconnectsAVisitor) {
  constexpr int kConnections = 10'000;
  zmq::socket_t laptop = stranger();
  zmq_socket_monitor(laptop.handle(), "inproc://laptop", ZMQ_EVENT_DISCONNECTED);
  zmq::socket_t disconnected(outside_, zmq::socket_type::pair);
  disconnected.connect("inproc://laptop");
  connect_as(laptop, watcher_, host_);
  const std::string much(60'000, 'x');
  const auto round_trip = [&](std::size_t id) {
    ask(laptop, {{"id", id}, {"op", "nodes"}});
    std::optional<json> told;
    core::Frames frames;
    run_until([&] {
      for (const auto& [asker, question] : std::exchange(heard_, {}))
        answer(asker, {{"id", question["id"]}, {"ok", true}, {"result", question["op"] == "run" ? much : "few"}});
      if (core::receive_frames(laptop, frames) && frames.size() == 1 && frames[0].size() != 0)
        told = json::parse(frames[0].to_string_view());
      return told.has_value() || HasFatalFailure();
    });
    if (told) {
      EXPECT_EQ((*told)["id"], id);
    }
  };
  std::size_t id = 0;
  const std::string port = reception_.endpoint().substr(reception_.endpoint().rfind(':') + 1);
  round_trip(++id);
  trainyard::testing::Flood flood(static_cast<std::uint16_t>(std::stoi(port)), kConnections, std::chrono::seconds(2));
  while (!flood.done() && !HasFatalFailure()) round_trip(++id);
  zmq::socket_t lazy = stranger();
  lazy.set(zmq::sockopt::rcvhwm, 1);
  connect_as(lazy, controller_, host_);
  for (int i = 0; i < 1000; ++i) ask(lazy, {{"id", i}, {"op", "run"}});
  for (int i = 0; i < 100 && !HasFatalFailure(); ++i) round_trip(++id);
  zmq::message_t event;
  EXPECT_FALSE(disconnected.recv(event, zmq::recv_flags::dontwait)) << "the visitor was disconnected";
  EXPECT_GT(reception_.refusals().connections, static_cast<std::uint64_t>(kConnections / 4));
}

TEST_F(ReceptionTest, ASubscriptionThatNeedsTooManyConnectionsIsRefused) {
  topics_ = {topic_of("/many", Relay::kMostLinks + 1), topic_of("/few", 2)};
  zmq::socket_t laptop = visitor(watcher_, host_);
  // The front door learns the topics from the answer to its own question.
  std::string error;
  do {
    error = error_of_subscription(laptop, 0, "/few");
  } while (error.find("no topic") != std::string::npos && !HasFatalFailure());
  EXPECT_EQ(error, "");
  EXPECT_THAT(
      error_of_subscription(laptop, 1, "/many"),
      HasSubstr(fmt::format("the front door has 2 connections to the processes of the run, and this subscription "
                            "needs {} more; at most ",
                            Relay::kMostLinks + 1)));
}

TEST_F(ReceptionTest, TooManyQuestionsOfOneVisitorAreRefused) {
  zmq::socket_t laptop = visitor(watcher_, host_);
  for (std::size_t i = 0; i <= Questions::kMostOfOne; ++i) ask(laptop, {{"id", i}, {"op", "nodes"}});
  const json refused = next_answer(laptop);
  EXPECT_EQ(refused["id"], json(Questions::kMostOfOne));
  EXPECT_THAT(refused["error"].get<std::string>(), HasSubstr("too many questions are not answered yet"));
  run_until([&] { return heard_.size() == Questions::kMostOfOne; });
}

}  // namespace
}  // namespace trainyard::front_door
