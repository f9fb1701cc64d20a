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
  std::vector<SafetensorsEntry> tensors;        ///< Ordered by their position in the file.
  std::map<std::string, std::string> metadata;  ///< The content of the entry `__metadata__`.

  /// The index in `tensors` of each tensor, by the tensor's name. Only parse_safetensors_header() fills this map.
  std::map<std::string, std::size_t, std::less<>> by_name;

  /// Looks up the name in `by_name` and returns the tensor, or null if there is none. Takes logarithmic time.
  const SafetensorsEntry* find(std::string_view name) const;
};

/// The format's limit on the size of a header, in bytes.
constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;

/// Parses the JSON of a header that is followed by `data_bytes` bytes of data. Checks all requirements of the format:
/// the size of each tensor matches its shape and dtype, the tensors cover all data without gaps or overlaps, and no key
/// is repeated. Throws kCorrupt if a requirement is not met, and kUnsupported for a dtype that Trainyard does not have.
/// The text of the error begins with `where`.
SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_bytes, const std::string& where);

/// Returns the JSON of a header, padded with spaces to a multiple of 8 bytes.
std::string format_safetensors_header(const SafetensorsHeader& header);

/// Returns the name that the safetensors format gives to a dtype, such as "F32".
std::string_view safetensors_name_of(DType dtype);

}  // namespace trainyard::checkpoints
