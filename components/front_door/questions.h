// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <zmq.hpp>

#include "core/loop/event_loop.h"

namespace trainyard::front_door {

/// Passes questions of visitors (programs that attach to the run from other hosts) to the run's registry, the socket at
/// which the launcher answers questions. No function waits; an answer is passed on when it arrives. The number of
/// unanswered (open) questions is limited, and forget_old() drops questions that the launcher does not answer. The
/// caller must add this object to the event loop on which it calls these functions.
class Questions final : public core::Source {
 public:
  /// The maximum numbers of open questions of one visitor, and of all visitors together.
  static constexpr std::size_t kMostOfOne = 16;
  static constexpr std::size_t kMost = 256;

  /// Called with the launcher's answer, which has the same `id` as the question. Never called if the question is
  /// dropped.
  using Answer = std::function<void(nlohmann::json reply)>;

  /// `registry` is the address of the registry. Throws kUnsupported if other hosts could reach it
  /// (core::check_address).
  Questions(zmq::context_t& context, const std::string& registry);

  /// Passes a question, which is a JSON object, to the registry, and calls `answer` when the answer arrives. `asker`
  /// identifies the visitor; an empty string stands for the front door itself, to which the limits do not apply. Throws
  /// kUnsupported if kMostOfOne questions of this visitor, or kMost questions in all, are open.
  void ask(const std::string& asker, nlohmann::json question, Answer answer);

  /// Returns true if a question of `asker` has not been answered yet.
  bool is_open(const std::string& asker) const { return open_of(asker) != 0; }

  /// Drops the questions that have been open for too long. Call this function at regular intervals.
  void forget_old();

  bool poll() override;
  bool has_work() const override { return false; }
  void* socket() const override { return const_cast<zmq::socket_t&>(socket_).handle(); }

 private:
  using Clock = std::chrono::steady_clock;

  struct Open {
    std::string asker;
    nlohmann::json id;  ///< The id that the asker gave to the question.
    Answer answer;
    Clock::time_point since;
  };

  std::size_t open_of(const std::string& asker) const;

  zmq::socket_t socket_;
  std::map<std::uint64_t, Open> open_;  ///< The open questions, by the id under which they were sent to the registry.
  std::uint64_t next_id_ = 1;
};

}  // namespace trainyard::front_door
