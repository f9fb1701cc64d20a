// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/trainyard/verbs.h"

namespace trainyard::tools {

// The verbs of the family `topic` that listen or publish. topic_verb.cpp makes the family, and adds them to it.

/// The longest timeout that a user can choose, in seconds: about eleven days. No verb waits for a message without a
/// limit.
constexpr double kLongestTimeout = 1e6;

/// Adds `topic echo`, which prints messages.
void add_topic_echo(CLI::App& family, Action& chosen);
/// Adds `topic hz|bw|delay`, which measure rate, bandwidth and delay.
void add_topic_meters(CLI::App& family, Action& chosen);
/// Adds `topic pub`, which publishes messages.
void add_topic_pub(CLI::App& family, Action& chosen);

}  // namespace trainyard::tools
