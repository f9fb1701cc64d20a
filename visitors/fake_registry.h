// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <zmq.hpp>

namespace trainyard::visitors::testing {

/// Imitates, in tests, the registry of a run (the socket at which the launcher answers questions), on a thread of its
/// own.
class FakeRegistry {
 public:
  /// `answer` is called on the thread for every question, and returns the reply without its `id`.
  FakeRegistry(const std::string& endpoint, std::function<nlohmann::json(const nlohmann::json& question)> answer)
      : answer_(std::move(answer)) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::rcvtimeo, 10);
    socket_.bind(endpoint);
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) serve();
    });
  }

 private:
  void serve() {
    zmq::message_t peer, text;
    if (!socket_.recv(peer) || !socket_.recv(text)) return;
    const auto question = nlohmann::json::parse(text.to_string_view());
    nlohmann::json reply = answer_(question);
    reply["id"] = question.at("id");
    socket_.send(peer, zmq::send_flags::sndmore);
    socket_.send(zmq::buffer(reply.dump()), zmq::send_flags::none);
  }

  std::function<nlohmann::json(const nlohmann::json& question)> answer_;
  zmq::context_t context_;
  zmq::socket_t socket_{context_, zmq::socket_type::router};
  std::jthread thread_;
};

}  // namespace trainyard::visitors::testing
