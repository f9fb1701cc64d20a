// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/testing/fake_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include "core/transport/frames.h"
#include "messages/error.h"
#include "messages/subscription.h"

namespace trainyard::tools::testing {

using nlohmann::json;

FakeRun::FakeRun()
    : directory_(fmt::format("{}/trainyard-{}", folder_.path(), ::geteuid()), launch::run_name("fake", ::getpid())) {
  for (zmq::socket_t* socket : {&registry_, &gateway_}) socket->set(zmq::sockopt::linger, 0);
  // There is no limit on queued messages, because all messages of a topic are sent at the same time.
  gateway_.set(zmq::sockopt::sndhwm, 0);
  registry_.bind(directory_.endpoint("registry"));
  gateway_.bind(directory_.endpoint("gateway"));
}

FakeRun::~FakeRun() = default;

void FakeRun::add_topic(const std::string& name, const MessageType& type, std::vector<FakeMessage> messages,
                        bool ends) {
  const json publisher = {{"component", "talker"}, {"process", "main"}, {"endpoint", directory_.endpoint("gateway")}};
  topics_[name] = {{{"topic", name},
                    {"type", type.name},
                    {"fingerprint", fmt::format("{:016x}", type.fingerprint)},
                    {"schema", type.schema_text},
                    {"publishers", json::array({publisher})},
                    {"subscribers", json::array()}},
                   type.fingerprint,
                   std::move(messages),
                   ends};
}

void FakeRun::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) serve();
  });
  directory_.announce("fake", "fake.toml", directory_.endpoint("registry"));
}

void FakeRun::serve() {
  std::vector<zmq::pollitem_t> items{{registry_.handle(), 0, ZMQ_POLLIN, 0}, {gateway_.handle(), 0, ZMQ_POLLIN, 0}};
  // The timeout lets the thread notice when the test is over.
  zmq::poll(items, std::chrono::milliseconds(20));
  if ((items[0].revents & ZMQ_POLLIN) != 0) serve_question();
  if ((items[1].revents & ZMQ_POLLIN) != 0) serve_subscriber();
}

void FakeRun::serve_question() {
  core::Frames frames;
  if (!core::receive_frames(registry_, frames) || frames.size() < 2) return;
  const json question = json::parse(frames.back().to_string_view());
  json reply = {{"id", question["id"]}, {"ok", true}};
  try {
    reply["result"] = result_of(question);
  } catch (const Error& error) {
    reply["ok"] = false;
    reply["error"] = error.what();
  }
  frames.back() = zmq::message_t(reply.dump());
  core::send_frames(registry_, frames);
}

json FakeRun::result_of(const json& question) const {
  const std::string op = question.at("op");
  if (op == "call") return call_(question.value("target", ""), question.at("method"), question.value("body", json()));
  if (op != "topics") return answers_.at(op);
  json all = json::array();
  for (const auto& [name, topic] : topics_) all.push_back(topic.description);
  return all;
}

void FakeRun::serve_subscriber() {
  core::Frames frames;
  // Requests other than Subscribe, such as Credit, are ignored.
  if (!core::receive_frames(gateway_, frames) || frames.size() != 4 || frames[2].to_string_view() != "Subscribe")
    return;
  const auto request = core::read_message<Subscribe>(frames[3]);
  const std::string peer = frames[0].to_string();
  const Topic& topic = topics_.at(request.topic);
  core::send_control(gateway_, peer,
                     Subscribed{.subscription = request.subscription,
                                .topic = request.topic,
                                .type = topic.description["type"],
                                .fingerprint = topic.fingerprint,
                                .schema = topic.description["schema"]});
  for (const FakeMessage& message : topic.messages) {
    Header header = message.header;
    header.fingerprint = topic.fingerprint;
    header.subscription = request.subscription;
    core::Frames data;
    for (const std::string_view part :
         {std::string_view(peer), std::string_view(request.topic),
          std::string_view(reinterpret_cast<const char*>(&header), sizeof header), std::string_view(message.body)}) {
      data.emplace_back(part);
    }
    core::send_frames(gateway_, data);
  }
  if (topic.ends) core::send_control(gateway_, peer, Ended{request.subscription});
}

}  // namespace trainyard::tools::testing
