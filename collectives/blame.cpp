// SPDX-License-Identifier: Apache-2.0
#include "collectives/blame.h"

#include <algorithm>

namespace trainyard::collectives {
namespace {

using namespace std::chrono_literals;

/// Bounds of the time that members get to answer a probe. A waiting member shows a sign of life every 50 ms, but on a
/// busy machine the sign can be late.
constexpr auto kLeastGrace = 250ms;
constexpr auto kMostGrace = 1000ms;

}  // namespace

Blame::Blame(Attendance& attendance, std::uint32_t own, std::uint32_t members, std::chrono::milliseconds timeout)
    : attendance_(attendance),
      own_(own),
      members_(members),
      timeout_(timeout),
      grace_(std::clamp<std::chrono::milliseconds>(timeout / 4, kLeastGrace, kMostGrace)) {}

std::vector<std::uint32_t> Blame::look(const Signs& signs, const std::vector<std::uint32_t>& candidates,
                                       Clock::time_point now) {
  leave_out_stop(now);
  if (!since_ || signs != last_) {
    last_ = signs;
    since_ = now;
    probed_.reset();
    return {};
  }
  const auto waited = now - *since_;
  if (waited + grace_ >= timeout_ && !probed_) probe(now);
  if (waited < timeout_ || !had_time(now)) return {};
  return verdict(candidates);
}

// While the caller waits, look() is called every 50 ms. So if seconds pass between two calls, the process was stopped.
void Blame::leave_out_stop(Clock::time_point now) {
  if (since_ && looked_ && now - *looked_ > kStopped) {
    *since_ += now - *looked_;
    if (probed_) *probed_ += now - *looked_;
  }
  looked_ = now;
}

void Blame::probe(Clock::time_point now) {
  probed_ = now;
  attendance_.probe();
}

bool Blame::had_time(Clock::time_point now) const { return probed_ && now - *probed_ >= grace_; }

std::vector<std::uint32_t> Blame::unanswered() const {
  std::vector<std::uint32_t> members;
  for (std::uint32_t member = 0; member < members_; ++member) {
    if (member != own_ && !attendance_.answer(member)) members.push_back(member);
  }
  return members;
}

// A member that does not answer at all is blamed before a member that answers but has not called the operation.
std::vector<std::uint32_t> Blame::verdict(const std::vector<std::uint32_t>& candidates) const {
  std::vector<std::uint32_t> culprits;
  for (const std::uint32_t candidate : candidates) {
    const auto found = culprit(candidate);
    if (found && std::ranges::find(culprits, *found) == culprits.end()) culprits.push_back(*found);
  }
  std::vector<std::uint32_t> without_answer = culprits;
  std::erase_if(without_answer, [&](std::uint32_t member) { return attendance_.answer(member).has_value(); });
  if (!without_answer.empty()) culprits = without_answer;
  std::ranges::sort(culprits);
  return culprits.empty() ? candidates : culprits;
}

/// Returns the member at the end of the chain of waiting members that begins with `candidate`. Returns nothing if the
/// members wait for each other in a circle, or if one of them cannot tell for whom it waits.
std::optional<std::uint32_t> Blame::culprit(std::uint32_t candidate) const {
  std::vector<std::uint32_t> seen{own_};
  for (std::uint32_t member = candidate; std::ranges::find(seen, member) == seen.end();) {
    seen.push_back(member);
    const auto answer = attendance_.answer(member);
    if (!answer || !answer->waits) return member;
    if (!answer->waits_for) return {};
    member = *answer->waits_for;
  }
  return {};
}

}  // namespace trainyard::collectives
