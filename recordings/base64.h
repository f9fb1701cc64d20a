// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trainyard::recordings {

/// Appends the bytes as base64 (RFC 4648, with padding).
void append_base64(std::string_view bytes, std::string& out);

/// Decodes base64. Returns an empty optional if `text` is not valid base64.
std::optional<std::string> bytes_of_base64(std::string_view text);

}  // namespace trainyard::recordings
