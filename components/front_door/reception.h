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

/// How much has been refused since the door was opened.
struct Refusals {
  /// Connections that had no key or a key that is not admitted, or that used another protocol.
  std::uint64_t connections = 0;
  std::uint64_t requests = 0;  ///< Requests of admitted visitors whose role does not permit them.
};

/// The door itself: a socket at which visitors with admitted keys ask questions and listen to topics, as if the socket
/// were the registry and the only gateway of the run (docs/wire_format.md, section 3). Everything happens on one event
/// loop.
class Reception {
 public:
  using Warn = std::function<void(const std::string& text)>;

  /// Binds the address. Nobody is admitted before open() is called. `warn` is called, at most once a second, when a
  /// visitor or a request has been refused. Throws kIo if the address cannot be bound.
  Reception(core::EventLoop& loop, const std::string& address, const core::Key& key, core::AllowList allowed,
            Warn warn);
  /// Tells the visitors that no more messages follow.
  ~Reception();
  Reception(const Reception&) = delete;
  Reception& operator=(const Reception&) = delete;

  /// Begins to admit visitors. `registry` is the address of the run's registry.
  void open(const std::string& registry);

  /// Returns the address to which visitors connect.
  const std::string& endpoint() const { return door_.endpoint(); }
  Refusals refusals() { return {door_.connections().refused(), refused_requests_}; }

 private:
  core::VisitorDoor::Owner door_owner();
  void hear(const core::Frames& way_back, zmq::message_t& text);
  // Passes a question on. Throws if it is not allowed.
  void pass_on(const core::Frames& way_back, const core::PublicKey& visitor, nlohmann::json question);
  void answer(const core::Frames& way_back, const nlohmann::json& reply);
  // Keeps what is known of the run up to date, once a second.
  void look();
  void ask_for_topics();
  void say_refusals();

  core::EventLoop& loop_;
  Warn warn_;
  zmq::context_t context_;
  Doorkeeper doorkeeper_;
  Relay relay_;
  core::VisitorDoor door_;
  std::unique_ptr<Questions> questions_;  ///< Exists once open() has been called.
  core::EventLoop::TimerId timer_{};
  bool located_ = false;  ///< True once the launcher has sent a list of topics.
  std::uint64_t refused_requests_ = 0;
  Refusals said_;
};

}  // namespace trainyard::front_door
