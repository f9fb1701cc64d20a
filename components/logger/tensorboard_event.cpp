// SPDX-License-Identifier: Apache-2.0
#include "components/logger/tensorboard_event.h"

#include <array>
#include <bit>
#include <initializer_list>

#include "components/logger/protobuf.h"

namespace trainyard {

using protobuf::little_endian;
using protobuf::put_bytes;
using protobuf::put_double;
using protobuf::put_float;
using protobuf::put_integer;

// The field numbers below are defined in tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto and
// tensorflow/core/framework/tensor.proto.

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

/// Returns the checksum in the form in which the format stores it: rotated and increased by a constant.
std::uint32_t masked_crc(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

// The field numbers of tensorflow.Event, Summary.Value, SummaryMetadata, TensorProto and TensorShapeProto.
enum EventField : std::uint32_t { kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5 };
enum ValueField : std::uint32_t { kTag = 1, kSimpleValue = 2, kTensor = 8, kMetadata = 9 };
enum MetadataField : std::uint32_t { kPluginData = 1, kDataClass = 4 };
enum PluginField : std::uint32_t { kPluginName = 1, kContent = 2 };
enum TensorField : std::uint32_t {
  kDType = 1,
  kShape = 2,
  kTensorContent = 4,
  kStringValue = 8,
  kDim = 2,
  kDimSize = 1
};
enum class TensorType : std::uint64_t { kFloat32 = 1, kFloat64 = 2, kString = 7 };

/// Returns Event { wall_time, step, summary { value } }, where `value` is already encoded.
std::string summary_event(double wall_time, std::uint64_t step, std::string_view value) {
  std::string summary, event;
  put_bytes(summary, 1, value);
  put_double(event, kWallTime, wall_time);
  put_integer(event, kStep, step);
  put_bytes(event, kSummary, summary);
  return event;
}

/// Returns the beginning of an encoded TensorProto, with type and shape. The values must be appended.
std::string tensor_head(TensorType type, std::initializer_list<std::uint64_t> extents) {
  std::string shape, tensor;
  for (const std::uint64_t size : extents) {
    std::string extent;
    put_integer(extent, kDimSize, size);
    put_bytes(shape, kDim, extent);
  }
  put_integer(tensor, kDType, static_cast<std::uint64_t>(type));
  put_bytes(tensor, kShape, shape);
  return tensor;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char byte : bytes) crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

// The length has a separate checksum, so that a reader can check it before it allocates memory.
void append_record(std::string& out, std::string_view data) {
  const std::string length = little_endian(std::uint64_t{data.size()});
  out.append(length).append(little_endian(masked_crc(length))).append(data).append(little_endian(masked_crc(data)));
}

std::string version_event(double wall_time) {
  std::string event;
  put_double(event, kWallTime, wall_time);
  put_bytes(event, kFileVersion, "brain.Event:2");
  return event;
}

std::string scalar_event(const EventPlace& place, float number) {
  std::string value;
  put_bytes(value, kTag, place.tag);
  put_float(value, kSimpleValue, number);
  return summary_event(place.wall_time, place.step, value);
}

// The metadata names the plugin; without it, TensorBoard does not show the tensor.
std::string plugin_event(const EventPlace& place, const EventPlugin& plugin, std::string_view tensor) {
  std::string value, data, metadata;
  put_bytes(data, kPluginName, plugin.name);
  if (!plugin.content.empty()) put_bytes(data, kContent, plugin.content);
  put_bytes(metadata, kPluginData, data);
  if (plugin.data_class != DataClass::kNone) {
    put_integer(metadata, kDataClass, static_cast<std::uint64_t>(plugin.data_class));
  }
  put_bytes(value, kTag, place.tag);
  put_bytes(value, kTensor, tensor);
  put_bytes(value, kMetadata, metadata);
  return summary_event(place.wall_time, place.step, value);
}

std::string text_tensor(std::span<const std::string> texts) {
  std::string tensor = tensor_head(TensorType::kString, {texts.size()});
  for (const std::string& text : texts) put_bytes(tensor, kStringValue, text);
  return tensor;
}

std::string number_tensor(std::span<const double> values, std::uint64_t columns) {
  std::string content;
  for (const double value : values) content += little_endian(std::bit_cast<std::uint64_t>(value));
  std::string tensor = tensor_head(TensorType::kFloat64, {values.size() / columns, columns});
  put_bytes(tensor, kTensorContent, content);
  return tensor;
}

std::string null_tensor() {
  std::string tensor = tensor_head(TensorType::kFloat32, {1});
  put_bytes(tensor, kTensorContent, little_endian(std::uint32_t{0}));
  return tensor;
}

}  // namespace trainyard
