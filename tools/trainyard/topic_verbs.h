// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/trainyard/verbs.h"

namespace trainyard::tools {

// The verbs of the family `topic` that listen or publish. topic_verb.cpp makes the family, and adds them to it.

/// The longest timeout in seconds, which is eleven days. No verb waits forever for a message.
constexpr double kLongestTimeout = 1e6;

/// Adds `topic echo`, which prints messages.
void add_topic_echo(CLI::App& family, Action& chosen);
/// Adds `topic hz`, `topic bw` and `topic delay`, which measure.
void add_topic_meters(CLI::App& family, Action& chosen);
/// Adds `topic pub`, which publishes messages.
void add_topic_pub(CLI::App& family, Action& chosen);

}  // namespace trainyard::tools
