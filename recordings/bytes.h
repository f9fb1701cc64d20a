// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "messages/error.h"

namespace trainyard::recordings {

/// Appends a number in little-endian byte order.
template <class T>
void put(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

/// Appends the length of a text as a 32-bit number, followed by the text.
inline void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

/// Reads numbers and texts from untrusted bytes. A read beyond the end throws kCorrupt, with the name of what is being
/// read. Returned views refer to the bytes, which must outlive them.
class ByteReader {
 public:
  /// `what` is the name of the bytes in error messages, such as "channel record".
  ByteReader(std::string_view bytes, std::string_view what) : bytes_(bytes), what_(what) {}

  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  /// Reads a text that is preceded by its length as a 32-bit number.
  std::string_view text() { return take(number<std::uint32_t>()); }
  /// Reads the next `size` bytes.
  std::string_view take(std::uint64_t size) {
    if (size > remaining()) {
      throw Error(Code::kCorrupt, "{} ends after {} bytes, where {} more were expected", what_, bytes_.size(),
                  size - remaining());
    }
    const std::string_view taken = bytes_.substr(position_, size);
    position_ += size;
    return taken;
  }
  std::size_t remaining() const { return bytes_.size() - position_; }
  std::size_t position() const { return position_; }

 private:
  std::string_view bytes_;
  std::string_view what_;
  std::size_t position_ = 0;
};

}  // namespace trainyard::recordings
