// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/trainyard/verbs.h"

namespace trainyard::tools {

// The subcommands of `trainyard topic` that listen or publish. topic_verb.cpp defines the command `topic` and calls
// these functions. `family` is the parser of `topic`, and `chosen` receives the action of the subcommand that the user
// has typed.

/// The longest timeout that a user can choose, in seconds: about eleven days. No subcommand waits for a message without
/// a limit.
constexpr double kLongestTimeout = 1e6;

/// Adds `topic echo`, which prints messages.
void add_topic_echo(CLI::App& family, Action& chosen);
/// Adds `topic hz|bw|delay`, which measure rate, bandwidth and delay.
void add_topic_meters(CLI::App& family, Action& chosen);
/// Adds `topic pub`, which publishes messages.
void add_topic_pub(CLI::App& family, Action& chosen);

}  // namespace trainyard::tools
