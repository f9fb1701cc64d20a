// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "messages/dtype.h"

namespace trainyard::checkpoints {

/// One tensor of a safetensors file. Its data begins at byte `begin` and ends before byte `end`, both counted from the
/// end of the header.
struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// The content of a safetensors file's header.
struct SafetensorsHeader {
  std::vector<SafetensorsEntry> tensors;  ///< The tensors, in the order of their bytes in the file.
  std::map<std::string, std::string> metadata;

  /// The index in `tensors` of each name; parse_safetensors_header() fills it.
  std::map<std::string, std::size_t, std::less<>> by_name;

  /// Returns the tensor of this name, or null if there is none. Takes logarithmic time.
  const SafetensorsEntry* find(std::string_view name) const;
};

/// The largest size of a header that the format allows, in bytes.
constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;

/// Reads the JSON of a header that is followed by `data_bytes` bytes. Checks all requirements of the format: the sizes
/// fit shape and dtype without overflow, the tensors follow each other without gap or overlap up to the last byte, and
/// no key is repeated. Throws kCorrupt, or kUnsupported for a dtype that Trainyard does not have, with a text that
/// begins with `where`.
SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_bytes, const std::string& where);

/// Returns the JSON of a header, padded with spaces to a multiple of 8 bytes.
std::string format_safetensors_header(const SafetensorsHeader& header);

/// Returns the format's name of a dtype: "F32", ...
std::string_view safetensors_name_of(DType dtype);

}  // namespace trainyard::checkpoints
