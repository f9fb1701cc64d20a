#pragma once

#include <string>

#include "accelerators/accelerator.h"

namespace trainyard::simulated {

/// What is known of hardware that is not here: its rules, and how long the way to it takes.
struct Rules {
  AcceleratorTraits traits;
  int devices = 64;            ///< In one host.
  double link_gb_per_s = 0;    ///< Between host and device, in 1e9 bytes; 0 = no time is spent on it.
  double step_latency_us = 0;  ///< From handing over a batch until the device begins.
};

/// Rules of "ipu", "tpu", "hpu", from the vendors' public data sheets, rounded; or of "custom", which forbids nothing.
Rules rules_of(const std::string& kind);

}  // namespace trainyard::simulated
