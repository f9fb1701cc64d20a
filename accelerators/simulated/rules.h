// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "accelerators/accelerator.h"

namespace trainyard::simulated {

/// The properties of simulated hardware: its rules, and how long transfers to it take.
struct Rules {
  AcceleratorTraits traits;
  int devices = 64;  ///< The number of devices in one host.
  /// The speed of the link to the host, in 1e9 bytes per second; 0 means that transfers take no time.
  double link_gb_per_s = 0;
  /// The time from the end of the transfer of a batch until the device begins to compute, in microseconds.
  double step_latency_us = 0;
};

/// Returns the rules of `kind`. Those of "ipu", "tpu" and "hpu" are rounded figures from the vendors' public data
/// sheets. Those of "custom" forbid nothing. Throws kNotFound for any other kind.
Rules rules_of(const std::string& kind);

}  // namespace trainyard::simulated
