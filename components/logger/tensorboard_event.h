// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace trainyard {

// The event files of TensorBoard: protobuf messages (tensorflow.Event) in checksummed records. Only the few fields that
// are needed here are written, so the encoder is short and does without a protobuf library.

/// Returns the CRC-32C (Castagnoli) of `bytes`, as in RFC 3720.
std::uint32_t crc32c(std::string_view bytes);

/// Appends one record: the length of `data` as u64, the masked CRC-32C of this length, `data` itself, and the masked
/// CRC-32C of `data`. Numbers are little-endian.
void append_record(std::string& out, std::string_view data);

/// Returns the event with which every file begins. It contains the version of the format; a reader refuses a file
/// without this event.
std::string version_event(double wall_time);

/// Where TensorBoard shows an event. The wall time is in seconds since 1970.
struct EventPlace {
  double wall_time = 0;
  std::uint64_t step = 0;
  std::string_view tag;
};

/// How a plugin of TensorBoard stores its data (tensorflow.DataClass).
enum class DataClass : std::uint8_t { kNone = 0, kTensor = 2, kBlobs = 3 };

/// The plugin of TensorBoard that shows a tensor. `content` is a message of the plugin, already encoded.
struct EventPlugin {
  std::string_view name;
  std::string_view content;
  DataClass data_class = DataClass::kNone;
};

/// Returns an event with one number.
std::string scalar_event(const EventPlace& place, float value);

/// Returns an event with a tensor, for a page of TensorBoard.
std::string plugin_event(const EventPlace& place, const EventPlugin& plugin, std::string_view tensor);

// Encoded tensors for plugin_event().

/// Returns a tensor of texts, which may contain any bytes.
std::string text_tensor(std::span<const std::string> texts);
/// Returns a tensor of numbers with so many columns. The number of values is a multiple of `columns`.
std::string number_tensor(std::span<const double> values, std::uint64_t columns);
/// Returns the tensor that a plugin stores if all data is in its content: one zero in float32.
std::string null_tensor();

}  // namespace trainyard
