// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::timeline {

/// Writes a message in the wire format of Protocol Buffers, field by field. The format is described at
/// https://protobuf.dev/programming-guides/encoding.
class ProtobufMessage {
 public:
  void add(std::uint32_t field, std::uint64_t value) {
    append_varint(std::uint64_t{field} << 3);
    append_varint(value);
  }
  void add_fixed64(std::uint32_t field, std::uint64_t value) {
    append_varint(std::uint64_t{field} << 3 | 1);
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(value >> shift);
  }
  void add(std::uint32_t field, std::string_view bytes) {
    append_varint(std::uint64_t{field} << 3 | 2);
    append_varint(bytes.size());
    bytes_ += bytes;
  }
  void add(std::uint32_t field, const ProtobufMessage& message) { add(field, std::string_view(message.bytes_)); }

  const std::string& bytes() const { return bytes_; }
  bool empty() const { return bytes_.empty(); }

 private:
  void append_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace trainyard::timeline
