// SPDX-License-Identifier: Apache-2.0
// A substitute for trainyard-process in tests of the launcher. It uses the control protocol but hosts no components.
// The environment variable FAKE, a JSON object, specifies how it behaves:
//   hang    stage at which it falls silent: hello, configured, connected, active, inactive, finalized, stop, exit
//   fail    state on the way to which its components fail; `message` says how
//   die     stage at which it ends with `code`
//   finish  state at which it says that the run is finished; `success` says how
//   repeat  "configured": it says a second time that it is configured, before it is connected
//   abi     ABI tag that it claims to be of
//   busy    what it says of busy loops when it is asked for its pulse
//   print   lines for stdout at the start
//   trace   file to which it adds a line for all that it is asked to do

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <zmq.hpp>

#include "core/plugin/abi.h"
#include "core/transport/run_keys.h"
#include "messages/control.h"
#include "messages/message_type.h"
#include "messages/plan.h"

namespace trainyard::launch {
namespace {

/// The fake process. It has one thread and one socket, and does not depend on timing.
class FakeProcess {
 public:
  /// Connects to the launcher. Its routing id is its name, as for a real process.
  FakeProcess(const std::string& endpoint, std::string name) : name_(std::move(name)) {
    const char* given = std::getenv("FAKE");
    fake_ = nlohmann::json::parse(given != nullptr ? given : "{}");
    core::present_as_member(socket_, core::RunKeys::read(std::string(std::istreambuf_iterator<char>(std::cin), {})));
    socket_.set(zmq::sockopt::routing_id, name_);
    socket_.set(zmq::sockopt::linger, 200);
    socket_.connect(endpoint);
  }

  int run() {
    for (const auto& line : fake_.value("print", nlohmann::json::array())) std::puts(line.get<std::string>().c_str());
    std::fflush(stdout);
    trace("hello");
    at("hello", [this] { send(Hello{name_, ::getpid(), fake_.value("abi", std::string(host_abi_tag()))}); });
    while (open_ > 0) receive();
    at("exit", [] {});
    while (fake_.value("hang", "") == "exit") ::pause();
    return 0;
  }

 private:
  /// Dies or falls silent if FAKE specifies this for the stage. Otherwise carries out the action.
  template <class Action>
  void at(const std::string& stage, Action action) {
    if (fake_.value("die", "") == stage) ::_exit(fake_.value("code", 0));
    if (fake_.value("hang", "") != stage) action();
  }

  void receive() {
    zmq::message_t type, body;
    (void)socket_.recv(type);
    (void)socket_.recv(body);
    const auto bytes = std::as_bytes(std::span(static_cast<const char*>(body.data()), body.size()));
    const std::string name = type.to_string();
    if (name == ProcessPlan::kTypeName) on_plan(read<ProcessPlan>(bytes));
    if (name == Connect::kTypeName) on_connect(read<Connect>(bytes));
    if (name == Transition::kTypeName) on_transition(read<Transition>(bytes));
    if (name == Request::kTypeName) on_request(read<Request>(bytes));
    if (name == PeerGone::kTypeName) on_peer_gone(read<PeerGone>(bytes));
  }

  void on_peer_gone(const PeerGone& peer) { trace(fmt::format("peer_gone {} {}", peer.process, peer.pid)); }

  void on_plan(const ProcessPlan& plan) {
    for (const ComponentPlan& component : plan.components) open_ += component.process == name_;
    --open_;  // The count starts at one, which stands for the plan.
    trace("plan");
    at("configured", [this] { send_configured(); });
  }

  void send_configured() {
    send(Configured{name_, {{name_ + "/main", "ipc:///nowhere"}, {name_ + "/gateway", "ipc:///gateway-" + name_}}});
  }

  void on_connect(const Connect& connect) {
    trace("connect " + std::to_string(connect.endpoints.size()));
    if (std::exchange(fake_["repeat"], "") == "configured") send_configured();
    at("connected", [this] { send(Connected{name_}); });
  }

  void on_transition(const Transition& transition) {
    trace(transition.state + " " + transition.component);
    const bool fails = fake_.value("fail", "") == transition.state;
    at(transition.state, [&] {
      if (fails) return send(StateChanged{transition.component, "error", fake_.value("message", "")});
      send(StateChanged{transition.component, transition.state, ""});
      if (transition.state == "finalized") --open_;
    });
    if (fake_.value("finish", "") == transition.state) finish(transition.component);
  }

  void finish(const std::string& component) {
    send(RunFinished{component, "enough is enough", fake_.value("success", true)});
  }

  void on_request(const Request& request) {
    // The launcher asks for the pulse at regular intervals, so these calls are not traced.
    if (request.method == "pulse") {
      const nlohmann::json pulse = {
          {"sent", 0}, {"sent_blocking", 0}, {"busy", fake_.value("busy", nlohmann::json::array())}};
      return send(Reply{request.id, true, pulse.dump()});
    }
    trace(request.method + " " + request.target);
    at(request.method, [&] {
      if (request.method == "stop" && !request.target.empty()) {
        send(Reply{request.id, true, "{}"});
        return finish(request.target);
      }
      const bool known = request.method != "unknown";
      send(Reply{request.id, known, known ? nlohmann::json{{"you_said", request.body}}.dump() : "no such method"});
    });
  }

  template <Message T>
  void send(const T& message) {
    std::string body;
    std::vector<Buffer> none;
    encode(message, body, none);
    socket_.send(zmq::buffer(std::string_view(T::kTypeName)), zmq::send_flags::sndmore);
    socket_.send(zmq::buffer(body), zmq::send_flags::none);
  }

  template <Message T>
  static T read(std::span<const std::byte> body) {
    T message;
    decode(message, body);
    return message;
  }

  /// Appends a line to the trace. Each line is written at once in append mode, so that several processes can share the
  /// file.
  void trace(const std::string& event) const {
    const std::string file = fake_.value("trace", "");
    if (!file.empty()) std::ofstream(file, std::ios::app) << name_ + ": " + event + "\n" << std::flush;
  }

  std::string name_;
  nlohmann::json fake_;
  zmq::context_t context_;
  zmq::socket_t socket_{context_, zmq::socket_type::dealer};
  int open_ = 1;  ///< The number of components that are not finalized.
};

}  // namespace
}  // namespace trainyard::launch

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  return trainyard::launch::FakeProcess(argv[2], argv[4]).run();
}
