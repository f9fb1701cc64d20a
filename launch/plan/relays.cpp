// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/relays.h"

#include <algorithm>

namespace trainyard::launch {

// Memory is shared only within a host. A component that exists once and needs the memory of all ranks can use relays if
// it has an input for the messages with which relays describe the memory of their ranks. Only the type of this input
// matters and not the name of the component, so new components can use relays, too.

namespace {

constexpr const char* kRelay = "checkpoint_relay";
constexpr const char* kDescription = "RemoteMemory";

bool uses_relays(const core::PluginInfo& info) {
  return std::ranges::find(info.inputs, kDescription, &core::PortInfo::type) != info.inputs.end();
}

/// Returns the relay as if it were in the launch file. Its position, for errors, is that of the component that uses it.
ComponentSpec relay_for(const ComponentSpec& user) {
  ComponentSpec relay;
  relay.name = kRelay;
  relay.key = fmt::format("component.{}", kRelay);
  relay.origin = user.origin;
  relay.plugin = {kRelay, user.origin};
  relay.parameters = {Value::Table{}, user.origin};
  return relay;
}

}  // namespace

void add_relay(LaunchFile& file, Catalogue& catalogue) {
  const auto uses = [&catalogue](const ComponentSpec& spec) {
    if (spec.is_visitor() || spec.is_member()) return false;
    const auto listed = catalogue.list();
    const auto is_this = [&spec](const PluginLabel& label) {
      return label.kind == "component" && label.name == spec.plugin.text;
    };
    // An unknown plugin is reported later, with its position in the file.
    return std::ranges::any_of(listed, is_this) && uses_relays(catalogue.info("component", spec.plugin.text));
  };
  const auto user = std::ranges::find_if(file.components, uses);
  if (user == file.components.end()) return;
  const auto taken = std::ranges::find(file.components, kRelay, &ComponentSpec::name);
  if (taken == file.components.end()) {
    const ComponentSpec relay = relay_for(*user);
    file.components.insert(std::ranges::upper_bound(file.components, relay.name, {}, &ComponentSpec::name), relay);
  } else if (taken->plugin.text != kRelay) {
    throw error_at(
        taken->origin, taken->key,
        fmt::format("the name is not allowed in a run on several hosts, because '{}' gets components of this "
                    "name; choose another",
                    user->name));
  }
}

void remove_idle_relays(std::vector<Draft>& drafts) {
  const auto is_idle = [&drafts](const Draft& relay) {
    return relay.plan.plugin == kRelay && std::ranges::none_of(drafts, [&relay](const Draft& draft) {
             return uses_relays(*draft.info) && draft.host != relay.host;
           });
  };
  std::vector<Draft> needed;
  for (const Draft& draft : drafts) {
    if (!is_idle(draft)) needed.push_back(draft);
  }
  drafts = std::move(needed);
  for (std::size_t i = 0; i < drafts.size(); ++i) drafts[i].plan.index = static_cast<std::uint32_t>(i);
}

}  // namespace trainyard::launch
