// SPDX-License-Identifier: Apache-2.0
#include "devices/uuid.h"

#include <fmt/format.h>

#include <cstddef>

namespace trainyard::devices {

std::string uuid_text(std::span<const char, 16> bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
  }
  return text;
}

}  // namespace trainyard::devices
