// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace trainyard {

// These functions write numbers as text: exactly for files, and shortened for the console.

/// Appends the shortest text from which exactly the same double can be read, such as "0.1", "1e-05", "nan" or "-inf".
/// Whole numbers below 1e15 are written without an exponent: "2000000".
void append_exact(std::string& out, double value);
/// Appends a whole number.
void append_exact(std::string& out, std::uint64_t value);

/// Appends nanoseconds as seconds with six digits after the point, such as "1732176886.123456".
void append_seconds(std::string& out, std::int64_t time_ns);

/// Returns the value with six significant digits, including trailing zeros, so that columns of numbers line up:
/// "2.10340".
std::string significant(double value);

/// Returns the value with two digits after the point and an exponent, for learning rates: "1.00e-03".
std::string scientific(double value);

/// Returns the value with at most three digits before the point and a suffix for thousands, millions and so on: "950",
/// "4.1k", "12.3M".
std::string compact(double value);

/// Returns a duration as minutes and seconds, "00:45", as hours, minutes and seconds, "1:02:03", or as days, hours and
/// minutes, "2d 03:04". Returns "--:--" if it is not finite or longer than 1e9 seconds.
std::string clock_text(double seconds);

/// Returns a size in bytes with a suitable unit: "512 B", "12.3 MB".
std::string bytes_text(std::uint64_t bytes);

}  // namespace trainyard
