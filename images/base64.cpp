// SPDX-License-Identifier: Apache-2.0
#include "images/base64.h"

#include <openssl/evp.h>

namespace trainyard::images {

std::string base64_of(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL appends a zero byte.
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

// OpenSSL would ignore white space, so it is refused here. OpenSSL also decodes padding as zero bytes, which are
// removed.
std::optional<std::string> bytes_of_base64(std::string_view text) {
  if (text.size() % 4 != 0 || text.find_first_of(" \t\r\n") != std::string_view::npos) return {};
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size < 0) return {};
  const std::size_t padding = text.empty() ? 0 : (text[text.size() - 1] == '=') + (text[text.size() - 2] == '=');
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}

}  // namespace trainyard::images
