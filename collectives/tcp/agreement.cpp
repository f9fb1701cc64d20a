// SPDX-License-Identifier: Apache-2.0
#include "collectives/tcp/agreement.h"

#include <limits>

namespace trainyard::tcp {
namespace {

using namespace std::chrono_literals;

/// How long leave() waits until the others have received the last frames. If the group has failed, the limit is
/// shorter, because a member may be stopped.
constexpr auto kLeave = 5000ms;
constexpr auto kLeaveInAnger = 300ms;
constexpr std::uint64_t kLastPing = std::numeric_limits<std::uint64_t>::max();

}  // namespace

// Announces the operation to all members or to none, so that no list of the members that must still be told is needed.
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

// Data that arrives between the last check and the sleep stays in the kernel and ends the sleep, so `look_again` is not
// needed.
bool TcpAgreement::rest(const collectives::Pause& pause, const std::function<bool()>&) {
  links_->look(std::chrono::ceil<std::chrono::milliseconds>(pause.most));
  return true;
}

// Frames arrive in the order in which they were sent, so a member that answers the ping has received everything before
// it.
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
