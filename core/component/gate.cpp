// SPDX-License-Identifier: Apache-2.0
#include "core/component/gate.h"

#include <fmt/format.h>

#include <algorithm>

namespace trainyard {
namespace {

/// Returns the number of messages to wait for. The number is computed late, because the component's edges are not known
/// yet when it is constructed.
std::size_t messages_wanted(const InputBase& input) {
  return input.options().optional && input.connections() == 0 ? 0 : 1;
}

}  // namespace

Gate::Need::Need(Gate& gate, std::string what, std::function<std::size_t()> wanted)
    : gate_(gate), what_(std::move(what)), wanted_(std::move(wanted)) {
  gate_.needs_.push_back(this);
}

Gate::Need::Need(Gate& gate, const InputBase& input)
    : Need(gate, input.name(), [&input] { return messages_wanted(input); }) {}

void Gate::Need::arrived(std::size_t sender) {
  senders_.insert(sender);
  gate_.open_if_met();
}

void Gate::open_if_met() {
  if (open_ || !std::ranges::all_of(needs_, &Need::met)) return;
  open_ = true;
  begin_();
}

std::string Gate::missing() const {
  std::string text;
  if (open_) return text;
  for (const Need* need : needs_) {
    if (need->met()) continue;
    text += fmt::format("{}{} of {} {}", text.empty() ? "" : ", ", need->senders_.size(), need->wanted_(), need->what_);
  }
  return text;
}

}  // namespace trainyard
