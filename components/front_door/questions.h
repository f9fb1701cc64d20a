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

/// The questions to the registry that have not been answered yet. Nothing here waits: an answer is passed on when it
/// arrives. The number of open questions is limited, and a question that the launcher does not answer is dropped after
/// a while.
class Questions final : public core::Source {
 public:
  /// The maximum number of open questions, from one asker and from all askers together.
  static constexpr std::size_t kMostOfOne = 16;
  static constexpr std::size_t kMost = 256;

  /// Receives the launcher's answer, whose `id` is that of the question.
  using Answer = std::function<void(nlohmann::json reply)>;

  /// `registry` is the address of the registry. Throws kIo.
  Questions(zmq::context_t& context, const std::string& registry);

  /// Passes a question, a JSON object, on to the registry. `asker` identifies the visitor that asks; an empty string
  /// stands for the door itself. `answer` is called with the answer. Throws kUnsupported if visitors already have too
  /// many open questions.
  void ask(const std::string& asker, nlohmann::json question, Answer answer);

  /// Returns true if a question of this asker has not been answered yet.
  bool is_open(const std::string& asker) const { return open_of(asker) != 0; }

  /// Drops the questions that have been open for too long. Call this at regular intervals.
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
  std::map<std::uint64_t, Open> open_;  ///< The open questions, by the id that the registry received.
  std::uint64_t next_id_ = 1;
};

}  // namespace trainyard::front_door
