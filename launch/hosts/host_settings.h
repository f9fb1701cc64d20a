// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/plugin/abi.h"
#include "core/transport/run_keys.h"
#include "environments/allocation.h"
#include "launch/hosts/addresses.h"
#include "launch/hosts/messages.h"
#include "launch/hosts/name_lookup.h"
#include "launch/plan/plan.h"
#include "launch/run/engine.h"

namespace trainyard::launch {

/// Everything that a host needs in order to find the other hosts and to be accepted by them.
struct HostSettings {
  /// The description of this host, without the fields that an agent (the process that acts for the launcher on another
  /// host) knows only after it has connected.
  Join self;
  MeetingPlace meeting;                             ///< The address and the ports at which host 0 listens.
  core::RunKeys key;                                ///< The key that all hosts of the run share.
  std::string key_file;                             ///< The path of the file with this key, for messages.
  std::chrono::milliseconds join_timeout{600'000};  ///< The maximum time for which the hosts wait for each other.
  /// The time after which the first reminder names the missing hosts, or the reason why host 0 was not found.
  std::chrono::milliseconds first_reminder{3'000};
  std::chrono::milliseconds reminder{10'000};  ///< The time between two reminders.
  std::chrono::milliseconds silence{20'000};   ///< The time without messages after which a host counts as lost.
  NameLookup::Resolve resolve = resolve_host;  ///< Finds the address of host 0.
};

/// Returns the settings of this host. `plugins` are the plugins of this installation. Reads the key of the hosts, and
/// throws what find_host_key() and read_host_key() throw. Throws kNotFound if neither the engine (the program that
/// started the launcher on each host, such as Slurm) nor the user has specified where the hosts meet.
HostSettings host_settings(const Plan& plan, const Engine& engine, const std::vector<PluginLabel>& plugins);

/// The interval at which the launcher and the agents send each other a HostBeat, and at which agents repeat a Join.
inline constexpr std::chrono::milliseconds kHostBeat{1'000};

}  // namespace trainyard::launch
