// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "components/strategy_manager/services.h"

namespace trainyard::manager {

/// The requests to pause that have not been ended. The ranks go on only when all of them have been, so that nobody's
/// pause is ended by another's go_on.
class PauseRequests {
 public:
  using Answer = std::function<void(const RunReply&)>;

  /// Adds a request. `answer` is called once, by answer_all().
  void add(Answer answer) {
    ++open_;
    waiting_.push_back(std::move(answer));
  }

  /// Ends one request, answered or not. There must be one. Returns true if it was the last.
  bool end_one() { return --open_ == 0; }

  bool any() const { return open_ > 0; }

  /// Answers all who wait until the ranks have come to rest. Their requests stay open.
  void answer_all(const RunReply& reply) {
    for (const Answer& answer : std::exchange(waiting_, {})) answer(reply);
  }

 private:
  std::uint32_t open_ = 0;
  std::vector<Answer> waiting_;  ///< Those that have not been answered yet.
};

}  // namespace trainyard::manager
