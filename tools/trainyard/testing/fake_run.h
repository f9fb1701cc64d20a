// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "core/testing/temporary_folder.h"
#include "launch/run/run_directory.h"
#include "messages/header.h"
#include "messages/message_type.h"

namespace trainyard::testing {}

namespace trainyard::tools::testing {

using namespace trainyard::testing;

/// A message that the publisher of the fake run sends. The test chooses the sequence number and the times in the
/// header; the publisher sets the other fields.
struct FakeMessage {
  Header header;
  std::string body;
};

/// An imitation of a running launch for tests of the command. It consists of a run directory, a registry (a socket that
/// answers questions about the run, as the launcher does) and a publisher. The test chooses the answers of the
/// registry. One thread serves the registry and the publisher. Nothing depends on timing: when a program subscribes to
/// a topic, the publisher sends all messages of the topic as fast as possible. Their headers contain the times that the
/// test has chosen.
class FakeRun {
 public:
  /// A function that answers a call to a component. To refuse the call, it throws an Error.
  using Call =
      std::function<nlohmann::json(const std::string& target, const std::string& method, const nlohmann::json& body)>;

  FakeRun();
  ~FakeRun();
  FakeRun(const FakeRun&) = delete;
  FakeRun& operator=(const FakeRun&) = delete;

  // The following functions must be called before start().

  /// Adds a topic with these messages. If `ends` is true, the publisher announces after the last message that no more
  /// follow.
  template <Message T>
  void add_topic(const std::string& name, std::vector<FakeMessage> messages, bool ends = true) {
    const MessageType& type = message_type<T>();
    add_topic(name, type, std::move(messages), ends);
  }
  void add_topic(const std::string& name, const MessageType& type, std::vector<FakeMessage> messages, bool ends);
  /// Sets the registry's answer to the question "nodes" or "run".
  void answer(const std::string& op, nlohmann::json result) { answers_[op] = std::move(result); }
  void answer_calls(Call call) { call_ = std::move(call); }

  /// Makes the run visible to the command.
  void start();
  /// Ends the run. If the function that answers calls uses members of the test fixture, the test must call stop()
  /// before these members are destroyed.
  void stop() { thread_ = {}; }

  /// Returns the value that XDG_RUNTIME_DIR must have so that a program finds this run.
  const std::string& runtime_directory() const { return folder_.path(); }

 private:
  struct Topic {
    nlohmann::json description;
    std::uint64_t fingerprint = 0;
    std::vector<FakeMessage> messages;
    bool ends = true;
  };

  void serve();
  void serve_question();
  void serve_subscriber();
  nlohmann::json result_of(const nlohmann::json& question) const;

  TemporaryFolder folder_;
  launch::RunDirectory directory_;
  zmq::context_t context_;
  zmq::socket_t registry_{context_, zmq::socket_type::router};
  zmq::socket_t gateway_{context_, zmq::socket_type::router};
  std::map<std::string, Topic> topics_;
  std::map<std::string, nlohmann::json> answers_;
  Call call_;
  std::jthread thread_;
};

/// Returns the message in its binary form.
template <Message T>
std::string body_of(const T& message) {
  std::string body;
  std::vector<Buffer> payloads;
  encode(message, body, payloads);
  return body;
}

}  // namespace trainyard::tools::testing
