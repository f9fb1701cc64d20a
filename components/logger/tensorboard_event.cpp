// SPDX-License-Identifier: Apache-2.0
#include "components/logger/tensorboard_event.h"

#include <array>
#include <bit>

namespace trainyard {

// Protobuf is written by hand: a message is a sequence of (field number, wire type, value), and a message inside
// another is its bytes. The numbers are those of tensorflow/core/util/event.proto and
// tensorflow/core/framework/summary.proto.

namespace {

/// The table of the bit-reversed polynomial of CRC-32C, with one entry for each byte, computed at compile time.
constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82f63b78u : 0);
    table[i] = value;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> kCrcTable = make_crc_table();

/// Returns the CRC as the format stores it: rotated and shifted, because a checksum over data that contains checksums
/// is weak.
std::uint32_t masked_crc(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

/// Returns the bytes of `value`, lowest first, whatever the byte order of the machine.
template <class T>
std::string little_endian(T value) {
  std::string bytes(sizeof(T), '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(value & 0xff);
    value = static_cast<T>(value >> 8);
  }
  return bytes;
}

/// The wire types of protobuf. A field is announced by its number and one of these.
enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// Appends seven bits per byte, the lowest first; the top bit says that more follow.
void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void put_key(std::string& out, std::uint32_t field, WireType type) { put_varint(out, field << 3 | type); }

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

/// Appends a string, or a message that has already been encoded.
void put_bytes(std::string& out, std::uint32_t field, std::string_view bytes) {
  put_key(out, field, kBytes);
  put_varint(out, bytes.size());
  out += bytes;
}

// The field numbers of tensorflow.Event, Summary.Value, SummaryMetadata, TensorProto and TensorShapeProto.
enum EventField : std::uint32_t { kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5 };
enum ValueField : std::uint32_t { kTag = 1, kSimpleValue = 2, kTensor = 8, kMetadata = 9 };
enum MetadataField : std::uint32_t { kPluginData = 1, kPluginName = 1 };
enum TensorField : std::uint32_t { kDType = 1, kShape = 2, kStringValue = 8, kDim = 2, kDimSize = 1 };
constexpr std::uint64_t kDTypeString = 7;

/// Returns Event { wall_time, step, summary { value } }, where `value` is already encoded.
std::string summary_event(double wall_time, std::uint64_t step, std::string_view value) {
  std::string summary, event;
  put_bytes(summary, 1, value);
  put_double(event, kWallTime, wall_time);
  put_integer(event, kStep, step);
  put_bytes(event, kSummary, summary);
  return event;
}

/// Returns a TensorProto of one string, because TensorBoard's text page requires a tensor, not a plain string.
std::string text_tensor(std::string_view text) {
  std::string extent, shape, tensor;
  put_integer(extent, kDimSize, 1);
  put_bytes(shape, kDim, extent);
  put_integer(tensor, kDType, kDTypeString);
  put_bytes(tensor, kShape, shape);
  put_bytes(tensor, kStringValue, text);
  return tensor;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char byte : bytes) crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

// The length has a checksum of its own, because a reader must be able to trust it before it allocates memory.
void append_record(std::string& out, std::string_view data) {
  const std::string length = little_endian<std::uint64_t>(data.size());
  out.append(length).append(little_endian(masked_crc(length))).append(data).append(little_endian(masked_crc(data)));
}

std::string version_event(double wall_time) {
  std::string event;
  put_double(event, kWallTime, wall_time);
  put_bytes(event, kFileVersion, "brain.Event:2");
  return event;
}

std::string scalar_event(double wall_time, std::uint64_t step, std::string_view tag, float number) {
  std::string value;
  put_bytes(value, kTag, tag);
  put_float(value, kSimpleValue, number);
  return summary_event(wall_time, step, value);
}

// The metadata names TensorBoard's plugin, without which a tensor is not shown.
std::string text_event(double wall_time, std::uint64_t step, std::string_view tag, std::string_view text) {
  std::string value, plugin, metadata;
  put_bytes(plugin, kPluginName, "text");
  put_bytes(metadata, kPluginData, plugin);
  put_bytes(value, kTag, tag);
  put_bytes(value, kTensor, text_tensor(text));
  put_bytes(value, kMetadata, metadata);
  return summary_event(wall_time, step, value);
}

}  // namespace trainyard
