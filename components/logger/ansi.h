// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainyard {

/// Escape sequences for colours (ECMA-48) that every current terminal understands. They are written only to terminals,
/// never to files.
namespace ansi {
constexpr const char* kBold = "\x1b[1m";
constexpr const char* kRed = "\x1b[31m";
constexpr const char* kGreen = "\x1b[32m";
constexpr const char* kCyan = "\x1b[36m";
constexpr const char* kPlain = "";
constexpr const char* kReset = "\x1b[0m";
}  // namespace ansi

}  // namespace trainyard
