// SPDX-License-Identifier: Apache-2.0
#include "collectives/tcp/agreement.h"

#include <limits>

namespace trainyard::tcp {
namespace {

using namespace std::chrono_literals;

/// How long others may take to read the last frames; in a group that has failed, one may be stopped.
constexpr auto kLeave = 5000ms;
constexpr auto kLeaveInAnger = 300ms;
constexpr std::uint64_t kLastPing = std::numeric_limits<std::uint64_t>::max();

}  // namespace

// All or nobody: an operation that only some members know would need a list of those that must still be told.
bool TcpAgreement::announce(const collectives::Operation& operation) {
  for (std::uint32_t member = 0; member < control_.size(); ++member) {
    if (member == control_.own()) continue;
    if (!control_.with(member).may_ask(operation.order, direct_.share_for(member, operation).size())) return false;
  }
  for (std::uint32_t member = 0; member < control_.size(); ++member) {
    if (member == control_.own()) continue;
    control_.with(member).ask(operation.order, operation.request, direct_.share_for(member, operation));
  }
  return true;
}

// The kernel keeps what arrives, so nothing is missed between the last check and the sleep.
bool TcpAgreement::rest(const collectives::Pause& pause, const std::function<bool()>&) {
  links_->look(std::chrono::ceil<std::chrono::milliseconds>(pause.most));
  return true;
}

// Frames keep their order, so a member that answers the ping has received everything before it.
void TcpAgreement::leave(bool failed) {
  control_.say_goodbye();
  control_.ping(kLastPing);
  const auto until = std::chrono::steady_clock::now() + (failed ? kLeaveInAnger : kLeave);
  while (std::chrono::steady_clock::now() < until) {
    control_.receive();
    if (control_.all_know(kLastPing)) return;
    links_->look(10ms);
  }
}

}  // namespace trainyard::tcp
