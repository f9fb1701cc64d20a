// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <zmq.hpp>

#include "components/front_door/doorkeeper.h"
#include "components/front_door/questions.h"
#include "components/front_door/relay.h"
#include "core/keys/allow_list.h"
#include "core/transport/visitor_door.h"

namespace trainyard::front_door {

/// What the front door (the component through which programs on other hosts attach to the run) has refused since it was
/// opened.
struct Refusals {
  /// Connections without a key, with a key that is not in the list, or with another protocol.
  std::uint64_t connections = 0;
  std::uint64_t requests = 0;  ///< Requests of accepted visitors that the role of their key does not allow.
};

/// The socket of the front door, through which visitors with accepted keys ask questions and listen to topics. For
/// them, the socket looks like the run's registry and like a process that publishes all topics (docs/wire_format.md,
/// section 3). Everything happens on the event loop `loop`.
class Reception {
 public:
  using Warn = std::function<void(const std::string& text)>;

  /// Binds the address. No visitor is accepted before open() is called. `key` is the key by which visitors recognise
  /// the run, and `allowed` contains the keys of the visitors. About once a second, `warn` is called if connections or
  /// requests have been refused since the last check. Throws kIo if the address cannot be bound.
  Reception(core::EventLoop& loop, const std::string& address, const core::Key& key, core::AllowList allowed,
            Warn warn);
  /// Tells the connected visitors that no more messages will follow.
  ~Reception();
  Reception(const Reception&) = delete;
  Reception& operator=(const Reception&) = delete;

  /// Begins to accept visitors. `registry` is the address of the run's registry, at which the launcher answers
  /// questions.
  void open(const std::string& registry);

  /// Returns the address to which visitors connect.
  const std::string& endpoint() const { return door_.endpoint(); }
  Refusals refusals() { return {door_.refused(), refused_requests_}; }

 private:
  core::VisitorDoor::Owner door_owner();
  void hear(const core::Frames& way_back, zmq::message_t& text);
  // Passes a question to the registry. Throws if the visitor may not ask it.
  void pass_on(const core::Frames& way_back, const core::PublicKey& visitor, nlohmann::json question);
  void answer(const core::Frames& way_back, const nlohmann::json& reply);
  // Called once a second: asks for the list of topics, drops old questions and reports refusals.
  void look();
  void ask_for_topics();
  void say_refusals();

  core::EventLoop& loop_;
  Warn warn_;
  zmq::context_t context_;
  Doorkeeper doorkeeper_;
  Relay relay_;
  core::VisitorDoor door_;
  std::unique_ptr<Questions> questions_;  ///< Set by open().
  core::EventLoop::TimerId timer_{};
  bool located_ = false;  ///< True when the launcher has sent a list of topics.
  std::uint64_t refused_requests_ = 0;
  Refusals said_;
};

}  // namespace trainyard::front_door
