// SPDX-License-Identifier: Apache-2.0
#include "components/logger/tensorboard_plugins.h"

#include <fmt/format.h>

#include <vector>

#include "components/logger/protobuf.h"

namespace trainyard {
namespace {

using nlohmann::json;
using protobuf::put_bytes;
using protobuf::put_double;
using protobuf::put_integer;

// The field numbers of HParamsPluginData and SessionStartInfo (tensorboard/plugins/hparams/plugin_data.proto), and of
// google.protobuf.Value and of map entries (google/protobuf/struct.proto).
enum class PluginData : std::uint32_t { kSessionStart = 3 };
enum class SessionStart : std::uint32_t { kValues = 1, kStartTime = 5 };
enum class MapEntry : std::uint32_t { kKey = 1, kValue = 2 };
enum class AnyValue : std::uint32_t { kNumber = 2, kText = 3, kBool = 4 };

/// Returns the number of a field.
template <class Field>
constexpr std::uint32_t number_of(Field field) {
  return static_cast<std::uint32_t>(field);
}

constexpr std::size_t kMaxText = 500;

/// Returns an encoded google.protobuf.Value. TensorBoard's page supports numbers, texts and bools.
std::string value_of(const json& value) {
  std::string encoded;
  if (value.is_boolean()) {
    put_integer(encoded, number_of(AnyValue::kBool), value.get<bool>() ? 1 : 0);
  } else if (value.is_number()) {
    put_double(encoded, number_of(AnyValue::kNumber), value.get<double>());
  } else {
    std::string text =
        value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', true, json::error_handler_t::replace);
    if (text.size() > kMaxText) {
      text.resize(kMaxText);
      text += "...";
    }
    put_bytes(encoded, number_of(AnyValue::kText), text);
  }
  return encoded;
}

}  // namespace

std::string text_event(const EventPlace& place, std::string_view text) {
  const std::string texts[] = {std::string(text)};
  return plugin_event(place, {.name = "text", .content = {}, .data_class = DataClass::kTensor}, text_tensor(texts));
}

// Each row of the tensor is a bucket, with its left edge, its right edge and its count.
std::string histogram_event(const EventPlace& place, const Histogram& histogram) {
  std::vector<double> rows;
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    const double left = static_cast<double>(histogram.first + static_cast<std::int64_t>(i)) * histogram.width;
    rows.insert(rows.end(), {left, left + histogram.width, static_cast<double>(histogram.counts[i])});
  }
  return plugin_event(place, {.name = "histograms", .content = {}, .data_class = DataClass::kTensor},
                      number_tensor(rows, 3));
}

// The tensor contains the width and the height as texts, followed by the PNG files.
std::string images_event(const EventPlace& place, std::uint32_t width, std::uint32_t height,
                         std::span<const std::string> images) {
  std::vector<std::string> texts{fmt::to_string(width), fmt::to_string(height)};
  texts.insert(texts.end(), images.begin(), images.end());
  return plugin_event(place, {.name = "images", .content = {}, .data_class = DataClass::kBlobs}, text_tensor(texts));
}

std::string hyperparameters_event(double wall_time, const std::map<std::string, json>& values) {
  std::string start, content;
  for (const auto& [name, value] : values) {
    std::string entry;
    put_bytes(entry, number_of(MapEntry::kKey), name);
    put_bytes(entry, number_of(MapEntry::kValue), value_of(value));
    put_bytes(start, number_of(SessionStart::kValues), entry);
  }
  put_double(start, number_of(SessionStart::kStartTime), wall_time);
  put_bytes(content, number_of(PluginData::kSessionStart), start);
  return plugin_event({.wall_time = wall_time, .step = 0, .tag = "_hparams_/session_start_info"},
                      {.name = "hparams", .content = content}, null_tensor());
}

}  // namespace trainyard
