// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trainyard::images {

/// Returns the bytes as base64 (RFC 4648, with padding).
std::string base64_of(std::string_view bytes);

/// Decodes base64 text. Returns an empty optional if `text` is not base64 with padding.
std::optional<std::string> bytes_of_base64(std::string_view text);

}  // namespace trainyard::images
