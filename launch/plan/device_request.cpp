// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/device_request.h"

#include "launch/file/toml_reader.h"

namespace trainyard::launch {
namespace {

DeviceRequest read_list(const Value::List& list) {
  DeviceRequest request{.kind = DeviceRequest::Kind::kIndices, .count = static_cast<std::int64_t>(list.size())};
  for (const Value& element : list) {
    const auto* index = element.get_if<std::int64_t>();
    if (index == nullptr) return {};
    request.indices.push_back(*index);
  }
  return request;
}

}  // namespace

DeviceRequest read_device_request(const Value& devices) {
  const auto* text = devices.get_if<std::string>();
  if (text != nullptr && *text == "auto") return {.kind = DeviceRequest::Kind::kAutomatic};
  const Value read = text == nullptr ? devices : read_command_line_value(*text);
  if (const auto* list = read.get_if<Value::List>()) return read_list(*list);
  const auto* count = read.get_if<std::int64_t>();
  if (count == nullptr) return {};
  if (*count == -1) return {.kind = DeviceRequest::Kind::kAll};
  return {.kind = DeviceRequest::Kind::kCount, .count = *count};
}

}  // namespace trainyard::launch
