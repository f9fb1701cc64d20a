// SPDX-License-Identifier: Apache-2.0
#include "viewer/observation_polls.h"

#include <utility>

#include "messages/error.h"

namespace trainyard::viewer {
namespace {

using namespace std::chrono_literals;

constexpr auto kInterval = 1s;
constexpr auto kShortLook = 300ms;

}  // namespace

std::optional<visitors::Observation> ObservationPolls::answer() {
  try {
    return observer_.answer(0ms);
  } catch (const Error&) {
    // The launcher refuses to answer, for example because it is busy with too many calls. It will be asked again soon.
    return {};
  }
}

// When somebody begins to look at the graph, the first question only makes the components begin to measure. The next
// question follows after a shorter interval than usual, so that the page shows results soon.
bool ObservationPolls::ask_when_due() {
  const bool watched = book_.read([](const Shelves& run) { return run.graph.is_watched(); });
  const bool begins = !std::exchange(watched_, watched) && watched;
  if (!begins && Clock::now() < next_) return false;
  next_ = Clock::now() + (begins ? kShortLook : kInterval);
  observer_.ask(watched ? visitors::Accounting::kOn : visitors::Accounting::kOff);
  return true;
}

}  // namespace trainyard::viewer
