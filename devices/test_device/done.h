// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "devices/link_bytes.h"

namespace trainyard::test_device {

inline constexpr const char* kToDevice = "to device";
inline constexpr const char* kToHost = "to host";

/// An operation that a test device has carried out, for timelines.
struct Done {
  std::string stream;
  const char* what = "";  ///< kToDevice, kToHost, "copy", "zero", "signal", "wait", "call", or a kernel's name.
  std::optional<devices::Purpose> purpose;  ///< Set for copies from and to the host whose purpose is known.
  std::size_t link_bytes = 0;               ///< The number of bytes that were copied from or to the host.
  std::int64_t begin_ns = 0;                ///< When the operation began, on CLOCK_MONOTONIC.
  std::int64_t end_ns = 0;
};

/// Returns the time on CLOCK_MONOTONIC.
std::int64_t now_ns();

}  // namespace trainyard::test_device
