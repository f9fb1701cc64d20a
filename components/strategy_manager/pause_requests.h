// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "components/strategy_manager/services.h"

namespace trainyard::manager {

/// Counts the open requests to pause the run: each call of the service `pause` opens one, and each call of the service
/// `go_on` ends one. The pause ends only when none is open, so that one user does not end the pause of another user.
class PauseRequests {
 public:
  using Answer = std::function<void(const RunReply&)>;

  /// Adds a request. answer_all() will call `answer` once.
  void add(Answer answer) {
    ++open_;
    waiting_.push_back(std::move(answer));
  }

  /// Ends one request. There must be at least one. Returns true if none remains open.
  bool end_one() { return --open_ == 0; }

  bool any() const { return open_ > 0; }

  /// Called when all ranks wait. Answers all requests that have not been answered yet. The requests remain open.
  void answer_all(const RunReply& reply) {
    for (const Answer& answer : std::exchange(waiting_, {})) answer(reply);
  }

 private:
  std::uint32_t open_ = 0;
  std::vector<Answer> waiting_;  ///< The callbacks of requests that have not been answered yet.
};

}  // namespace trainyard::manager
