// SPDX-License-Identifier: Apache-2.0
#include "components/logger/protobuf.h"

#include <bit>

namespace trainyard::protobuf {
namespace {

/// Protobuf's wire types. A field begins with its number and its wire type.
enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// Appends a varint: seven bits per byte, the lowest first. The top bit is set in all bytes except the last.
void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void put_key(std::string& out, std::uint32_t field, WireType type) { put_varint(out, field << 3 | type); }

template <class T>
std::string bytes_of(T value) {
  std::string bytes(sizeof(T), '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(value & 0xff);
    value = static_cast<T>(value >> 8);
  }
  return bytes;
}

}  // namespace

std::string little_endian(std::uint64_t value) { return bytes_of(value); }
std::string little_endian(std::uint32_t value) { return bytes_of(value); }

void put_integer(std::string& out, std::uint32_t field, std::uint64_t value) {
  put_key(out, field, kVarint);
  put_varint(out, value);
}

void put_double(std::string& out, std::uint32_t field, double value) {
  put_key(out, field, kFixed64);
  out += little_endian(std::bit_cast<std::uint64_t>(value));
}

void put_float(std::string& out, std::uint32_t field, float value) {
  put_key(out, field, kFixed32);
  out += little_endian(std::bit_cast<std::uint32_t>(value));
}

void put_bytes(std::string& out, std::uint32_t field, std::string_view bytes) {
  put_key(out, field, kBytes);
  put_varint(out, bytes.size());
  out += bytes;
}

}  // namespace trainyard::protobuf
