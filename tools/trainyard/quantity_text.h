// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainyard::tools {

// Measured quantities, for people: numbers below 1000 have up to four significant digits, larger numbers are whole. The
// units are ASCII, so that columns stay aligned.

/// Returns a time such as "9.981 ms", "12.5 us" or "1.5 s".
std::string seconds_text(double seconds);
/// Returns a size such as "812 B" or "1.5 MiB".
std::string bytes_text(double bytes);
/// Returns a rate such as "99.98 Hz" or "12500 Hz".
std::string hertz_text(double hertz);

}  // namespace trainyard::tools
