// SPDX-License-Identifier: Apache-2.0
#include "devices/link_bytes.h"

namespace trainyard::devices {

LinkCount LinkBytes::of(Purpose purpose) const {
  const Counters& counters = counters_[static_cast<std::size_t>(purpose)];
  return {counters.to_device, counters.to_host};
}

LinkCount LinkBytes::all() const {
  LinkCount sum;
  for (const Counters& counters : counters_) {
    sum.to_device += counters.to_device;
    sum.to_host += counters.to_host;
  }
  return sum;
}

}  // namespace trainyard::devices
