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

/// The questions to the registry of the run that are not answered yet. It never waits: an answer is passed on when it
/// arrives. Their number is bounded, and a question that the launcher does not answer is forgotten.
class Questions final : public core::Source {
 public:
  /// The number of questions that may be open, of one asker and of all of them.
  static constexpr std::size_t kMostOfOne = 16;
  static constexpr std::size_t kMost = 256;

  /// Receives the launcher's answer, whose `id` is that of the question.
  using Answer = std::function<void(nlohmann::json reply)>;

  /// `registry` is the address of the registry. Throws kIo.
  Questions(zmq::context_t& context, const std::string& registry);

  /// Passes a question, a JSON object, on to the registry. An empty `asker` is the door itself. Throws kUnsupported if
  /// too many questions of visitors are open.
  void ask(const std::string& asker, nlohmann::json question, Answer answer);

  /// Returns true if a question of this asker is not answered yet.
  bool is_open(const std::string& asker) const { return open_of(asker) != 0; }

  /// Forgets the questions that are too old. Call this at regular intervals.
  void forget_old();

  bool poll() override;
  bool has_work() const override { return false; }
  void* socket() const override { return const_cast<zmq::socket_t&>(socket_).handle(); }

 private:
  using Clock = std::chrono::steady_clock;

  struct Open {
    std::string asker;
    nlohmann::json id;  ///< The id that the asker gave.
    Answer answer;
    Clock::time_point since;
  };

  std::size_t open_of(const std::string& asker) const;

  zmq::socket_t socket_;
  std::map<std::uint64_t, Open> open_;  ///< By the id that the registry gets.
  std::uint64_t next_id_ = 1;
};

}  // namespace trainyard::front_door
