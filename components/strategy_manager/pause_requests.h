// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "components/strategy_manager/services.h"

namespace trainyard::manager {

/// The open requests to pause. The ranks go on only when every request was ended, so that one user's go_on does not end
/// the pause of another user.
class PauseRequests {
 public:
  using Answer = std::function<void(const RunReply&)>;

  /// Adds a request. `answer` is called once, by answer_all().
  void add(Answer answer) {
    ++open_;
    waiting_.push_back(std::move(answer));
  }

  /// Ends one request, even if it was not answered yet. There must be one. Returns true if it was the last.
  bool end_one() { return --open_ == 0; }

  bool any() const { return open_ > 0; }

  /// Answers every request that still waits for the ranks to come to rest. The requests stay open.
  void answer_all(const RunReply& reply) {
    for (const Answer& answer : std::exchange(waiting_, {})) answer(reply);
  }

 private:
  std::uint32_t open_ = 0;
  std::vector<Answer> waiting_;  ///< The answers that have not been sent yet.
};

}  // namespace trainyard::manager
