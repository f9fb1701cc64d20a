// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace trainyard {

// Functions that write TensorBoard's event files, which consist of Protobuf messages (tensorflow.Event) in records with
// checksums. Only a few fields are needed, so no Protobuf library is used.

/// Returns the checksum CRC-32C (Castagnoli) of `bytes`, as in RFC 3720.
std::uint32_t crc32c(std::string_view bytes);

/// Appends one record: the length of `data` as u64, the masked CRC-32C of this length, `data` itself, and the masked
/// CRC-32C of `data`. Numbers are little-endian.
void append_record(std::string& out, std::string_view data);

/// Returns the event with which every file must begin. It contains the version of the format. `wall_time` is in seconds
/// since 1970.
std::string version_event(double wall_time);

/// The coordinates at which TensorBoard shows an event. The wall time is in seconds since 1970.
struct EventPlace {
  double wall_time = 0;
  std::uint64_t step = 0;
  std::string_view tag;
};

/// The kind of data of a TensorBoard plugin (tensorflow.DataClass).
enum class DataClass : std::uint8_t { kNone = 0, kTensor = 2, kBlobs = 3 };

/// The plugin of TensorBoard that shows a tensor. `content` is an encoded message for the plugin.
struct EventPlugin {
  std::string_view name;
  std::string_view content;
  DataClass data_class = DataClass::kNone;
};

/// Returns an event with one number.
std::string scalar_event(const EventPlace& place, float value);

/// Returns an event with a tensor, which a plugin of TensorBoard shows. `tensor` is encoded by one of the functions
/// below.
std::string plugin_event(const EventPlace& place, const EventPlugin& plugin, std::string_view tensor);

// Functions that encode tensors for plugin_event().

/// Returns a one-dimensional tensor of texts, which may contain any bytes.
std::string text_tensor(std::span<const std::string> texts);
/// Returns a two-dimensional tensor of numbers with `columns` columns. The number of values must be a multiple of
/// `columns`.
std::string number_tensor(std::span<const double> values, std::uint64_t columns);
/// Returns the tensor for plugins whose data is all in EventPlugin::content: a single zero of type float32.
std::string null_tensor();

}  // namespace trainyard
