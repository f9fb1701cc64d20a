// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::protobuf {

// A minimal encoder for Protobuf, in which a message is a sequence of fields (field number, wire type, value), and a
// nested message is a field with its encoded bytes. Every function appends one field with the number `field` to the
// encoded message `out`.

void put_integer(std::string& out, std::uint32_t field, std::uint64_t value);
void put_double(std::string& out, std::uint32_t field, double value);
void put_float(std::string& out, std::uint32_t field, float value);
/// Appends a string, or a nested message that has already been encoded.
void put_bytes(std::string& out, std::uint32_t field, std::string_view bytes);

/// Returns the bytes of `value` in little-endian order.
std::string little_endian(std::uint64_t value);
std::string little_endian(std::uint32_t value);

}  // namespace trainyard::protobuf
