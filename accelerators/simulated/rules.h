#pragma once

#include <string>

#include "accelerators/accelerator.h"

namespace trainyard::simulated {

/// What is known of hardware that is not here: its rules, and how long transfers to it take.
struct Rules {
  AcceleratorTraits traits;
  int devices = 64;            ///< How many there are in one host.
  double link_gb_per_s = 0;    ///< The speed of the link to the host, in 1e9 bytes; 0 means that it takes no time.
  double step_latency_us = 0;  ///< The time from handing over a batch until the device begins.
};

/// Returns the rules of "ipu", "tpu" or "hpu", rounded from the public data sheets of their vendors, or those of
/// "custom", which forbid nothing. Throws kNotFound for other words.
Rules rules_of(const std::string& kind);

}  // namespace trainyard::simulated
