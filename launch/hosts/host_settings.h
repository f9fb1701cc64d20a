// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/plugin/abi.h"
#include "core/transport/run_keys.h"
#include "environments/allocation.h"
#include "launch/hosts/messages.h"
#include "launch/plan/plan.h"
#include "launch/run/engine.h"

namespace trainyard::launch {

/// What one host needs in order to meet the others.
struct HostSettings {
  Join self;             ///< Who this host is, without the fields that an agent finds out while it connects.
  MeetingPlace meeting;  ///< Where host 0 listens.
  core::RunKeys key;     ///< The key by which the hosts know each other.
  std::string key_file;  ///< Where the key comes from, for messages.
  std::chrono::milliseconds join_timeout{600'000};  ///< How long the hosts wait for each other.
  std::chrono::milliseconds first_reminder{3'000};  ///< When the first message says what is missing.
  std::chrono::milliseconds reminder{10'000};       ///< The time between it and the next ones.
  std::chrono::milliseconds silence{20'000};        ///< A host that sends nothing for this long is given up.
};

/// Returns the settings of this host. `plugins` are the plugins of this installation. Reads the key of the hosts;
/// throws what find_host_key() and read_host_key() throw, and kNotFound if nobody says where the hosts meet.
HostSettings host_settings(const Plan& plan, const Engine& engine, const std::vector<PluginLabel>& plugins);

/// How often each side sends a HostBeat, and an agent its Join.
inline constexpr std::chrono::milliseconds kHostBeat{1'000};

}  // namespace trainyard::launch
