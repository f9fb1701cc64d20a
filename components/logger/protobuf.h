// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::protobuf {

// Protobuf is written by hand: a message is a sequence of (field number, wire type, value), and a message inside
// another is its bytes. Every function appends one field to an encoded message.

void put_integer(std::string& out, std::uint32_t field, std::uint64_t value);
void put_double(std::string& out, std::uint32_t field, double value);
void put_float(std::string& out, std::uint32_t field, float value);
/// Appends a string, or a message that has already been encoded.
void put_bytes(std::string& out, std::uint32_t field, std::string_view bytes);

/// Returns the bytes of `value`, lowest first, whatever the byte order of the machine.
std::string little_endian(std::uint64_t value);
std::string little_endian(std::uint32_t value);

}  // namespace trainyard::protobuf
