// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "accelerators/accelerator.h"

namespace trainyard::simulated {

/// The known properties of hardware that this host does not have: its rules, and the duration of transfers to it.
struct Rules {
  AcceleratorTraits traits;
  int devices = 64;  ///< The number of devices in one host.
  /// The speed of the link to the host, in 1e9 bytes per second; 0 means that transfers take no time.
  double link_gb_per_s = 0;
  double step_latency_us = 0;  ///< The time from handing over a batch until the device starts to compute.
};

/// Returns the rules of `kind`: "ipu", "tpu" or "hpu", rounded from the public data sheets of their vendors, or
/// "custom", whose rules forbid nothing. Throws kNotFound for any other kind.
Rules rules_of(const std::string& kind);

}  // namespace trainyard::simulated
