// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "components/strategy_manager/services.h"

namespace trainyard::manager {

/// The requests to pause that have not been ended. The pause ends only when all requests have been ended, so that one
/// user's `go_on` does not end the pause of another user.
class PauseRequests {
 public:
  using Answer = std::function<void(const RunReply&)>;

  /// Adds a request. `answer` is called once, by answer_all().
  void add(Answer answer) {
    ++open_;
    waiting_.push_back(std::move(answer));
  }

  /// Ends one request, even if it has not been answered. There must be a request. Returns true if no requests remain.
  bool end_one() { return --open_ == 0; }

  bool any() const { return open_ > 0; }

  /// Answers all requests that have not been answered, because the ranks rest. The requests stay open.
  void answer_all(const RunReply& reply) {
    for (const Answer& answer : std::exchange(waiting_, {})) answer(reply);
  }

 private:
  std::uint32_t open_ = 0;
  std::vector<Answer> waiting_;  ///< The callbacks of the requests that have not been answered.
};

}  // namespace trainyard::manager
