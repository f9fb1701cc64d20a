// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace trainyard {

// These functions write numbers as text: exact for files, short for the console.

/// Appends the shortest text from which the same double can be read again. Whole numbers below 1e15 have no exponent:
/// "0.1", "2000000", "1e-05", "nan", "inf", "-inf".
void append_exact(std::string& out, double value);
/// Appends the digits of a whole number.
void append_exact(std::string& out, std::uint64_t value);

/// Appends nanoseconds as seconds with six digits after the point, such as "1732176886.123456".
void append_seconds(std::string& out, std::int64_t time_ns);

/// Returns the value with six significant digits, including trailing zeros, so that columns of numbers line up:
/// "2.10340".
std::string significant(double value);

/// Returns the value with two digits after the point and an exponent, so that a falling learning rate stays readable:
/// "1.00e-03".
std::string scientific(double value);

/// Returns the value with at most three digits before the point, and with a suffix for thousands, millions and so on:
/// "950", "4.1k", "12.3M".
std::string compact(double value);

/// Returns a duration in hours, minutes and seconds, or "--:--" if it is not finite: "00:45", "1:02:03", "2d 03:04".
std::string clock_text(double seconds);

/// Returns a size in bytes with a suitable unit: "512 B", "12.3 MB".
std::string bytes_text(std::uint64_t bytes);

}  // namespace trainyard
