#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "messages/dtype.h"

namespace trainyard::checkpoints {

/// One tensor of a safetensors file: where it lies in the bytes after the header.
struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// What the header of a safetensors file says.
struct SafetensorsHeader {
  std::vector<SafetensorsEntry> tensors;  ///< In the order of their bytes.
  std::map<std::string, std::string> metadata;

  /// Null if there is none of this name.
  const SafetensorsEntry* find(std::string_view name) const;
};

/// Longest header that the format allows.
constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;

/// Reads the JSON of a header that is followed by `data_bytes` bytes. Checks all that the format promises: known
/// dtypes, sizes that fit shape and dtype without overflow, tensors one after another without hole or overlap up to the
/// last byte, no key twice. Throws kCorrupt, or kUnsupported for a dtype that is not ours; `where` begins the message.
SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_bytes, const std::string& where);

/// The JSON of a header, padded with spaces to a multiple of 8.
std::string format_safetensors_header(const SafetensorsHeader& header);

/// "F32", ...; the format's own words.
std::string_view safetensors_name_of(DType dtype);

}  // namespace trainyard::checkpoints
