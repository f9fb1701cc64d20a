// SPDX-License-Identifier: Apache-2.0
#include "checkpoints/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "checkpoints/json_input.h"
#include "messages/error.h"
#include "messages/tensor.h"

namespace trainyard::checkpoints {

// A header looks like this:
//
//     {"__metadata__": {"format": "trainyard"},
//      "layers.0.weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}

namespace {

using nlohmann::json;

/// The names that the format gives to Trainyard's dtypes. The format has more dtypes, which are refused with an error.
constexpr std::array<std::pair<DType, std::string_view>, 10> kNames = {{{DType::kUInt8, "U8"},
                                                                        {DType::kInt8, "I8"},
                                                                        {DType::kInt16, "I16"},
                                                                        {DType::kInt32, "I32"},
                                                                        {DType::kInt64, "I64"},
                                                                        {DType::kFloat16, "F16"},
                                                                        {DType::kBFloat16, "BF16"},
                                                                        {DType::kFloat32, "F32"},
                                                                        {DType::kFloat64, "F64"},
                                                                        {DType::kBool, "BOOL"}}};

/// The deepest nesting of a header: the root object, the object of a tensor, and the list with its shape.
constexpr int kHeaderDepth = 3;

DType dtype_from(const std::string& name, const std::string& where) {
  const auto found =
      std::find_if(kNames.begin(), kNames.end(), [&](const auto& known) { return known.second == name; });
  if (found != kNames.end()) return found->first;
  throw Error(Code::kUnsupported,
              "{}: dtype '{}' is not known; known: U8, I8, I16, I32, I64, F16, BF16, F32, F64, BOOL", where, name);
}

std::vector<std::int64_t> shape_from(const json& value, const std::string& where) {
  std::vector<std::int64_t> shape;
  for (const json& extent : value) {
    // Numbers from 2^63 would become negative when they are converted to int64.
    if (!extent.is_number_unsigned() || extent.get<std::uint64_t>() > INT64_MAX) {
      throw Error(Code::kCorrupt, "{}: extent {} in 'shape'; allowed is a whole number >= 0", where, extent.dump());
    }
    shape.push_back(extent.get<std::int64_t>());
  }
  return shape;
}

/// Reads one tensor of the header and checks that its fields are consistent. check_coverage() later checks that the
/// tensors fit together.
SafetensorsEntry entry_from(const std::string& name, const json& value, const std::string& file) {
  const std::string where = fmt::format("{}: tensor '{}'", file, name);
  SafetensorsEntry entry{.name = name, .dtype = dtype_from(string_member(value, "dtype", where), where)};
  const json& shape = member(value, "shape", where);
  const json& offsets = member(value, "data_offsets", where);
  if (!shape.is_array()) throw Error(Code::kCorrupt, "{}: 'shape' is not a list", where);
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned() || offsets[0] > offsets[1]) {
    throw Error(Code::kCorrupt, "{}: 'data_offsets' is {}; allowed is [begin, end] with begin <= end", where,
                offsets.dump());
  }
  entry.shape = shape_from(shape, where);
  entry.begin = offsets[0].get<std::uint64_t>();
  entry.end = offsets[1].get<std::uint64_t>();
  std::uint64_t needed = 0;
  try {
    // checked_bytes() throws if the size would overflow. The name of the tensor is added to its error below.
    needed = checked_bytes(entry.dtype, entry.shape);
  } catch (const Error& error) {
    throw Error(Code::kCorrupt, "{}: {}", where, error.what());
  }
  if (entry.end - entry.begin != needed) {
    throw Error(Code::kCorrupt, "{}: shape {} of {} needs {} bytes, 'data_offsets' has {}", where, to_text(entry.shape),
                safetensors_name_of(entry.dtype), needed, entry.end - entry.begin);
  }
  return entry;
}

/// Reads the metadata. The format allows only strings as values.
std::map<std::string, std::string> metadata_from(const json& value, const std::string& file) {
  std::map<std::string, std::string> metadata;
  if (!value.is_object()) throw Error(Code::kCorrupt, "{}: '__metadata__' is not an object", file);
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) throw Error(Code::kCorrupt, "{}: '__metadata__' value of '{}' is not a string", file, key);
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

/// Throws kCorrupt unless every byte belongs to exactly one tensor, so that nothing can hide in a hole or be read
/// twice.
void check_coverage(const std::vector<SafetensorsEntry>& sorted, std::uint64_t data_bytes, const std::string& file) {
  std::uint64_t position = 0;
  for (const SafetensorsEntry& entry : sorted) {
    if (entry.begin != position) {
      throw Error(Code::kCorrupt, "{}: tensor '{}' begins at byte {}, where {} was expected: {}", file, entry.name,
                  entry.begin, position, entry.begin < position ? "tensors overlap" : "there is a hole");
    }
    position = entry.end;
  }
  if (position != data_bytes) {
    throw Error(Code::kCorrupt, "{}: the tensors have {} bytes, the file has {} after its header", file, position,
                data_bytes);
  }
}

}  // namespace

const SafetensorsEntry* SafetensorsHeader::find(std::string_view name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : &tensors[found->second];
}

std::string_view safetensors_name_of(DType dtype) {
  const auto found =
      std::find_if(kNames.begin(), kNames.end(), [&](const auto& known) { return known.first == dtype; });
  if (found == kNames.end()) throw Error(Code::kInternal, "dtype number {} has no name", static_cast<int>(dtype));
  return found->second;
}

SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t data_bytes, const std::string& where) {
  // The format requires this, but a JSON parser would also accept leading spaces.
  if (!text.starts_with('{')) throw Error(Code::kCorrupt, "{}: the header does not begin with '{{'", where);
  const json root = parse_strict_json(text, where, kHeaderDepth);
  SafetensorsHeader header;
  for (const auto& [name, value] : root.items()) {
    if (name == "__metadata__") {
      header.metadata = metadata_from(value, where);
    } else {
      header.tensors.push_back(entry_from(name, value, where));
    }
  }
  // The tensors are sorted by position. An empty tensor begins where the next tensor begins, so the end and the name
  // are compared, too.
  std::sort(header.tensors.begin(), header.tensors.end(), [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  check_coverage(header.tensors, data_bytes, where);
  for (std::size_t i = 0; i < header.tensors.size(); ++i) header.by_name.emplace(header.tensors[i].name, i);
  return header;
}

std::string format_safetensors_header(const SafetensorsHeader& header) {
  nlohmann::ordered_json root = nlohmann::ordered_json::object();
  if (!header.metadata.empty()) root["__metadata__"] = header.metadata;
  // The members of an ordered_json are a list of pairs. They are appended directly, because operator[] would search the
  // whole list for each name, although all names differ.
  auto& members = root.get_ref<nlohmann::ordered_json::object_t&>();
  for (const SafetensorsEntry& entry : header.tensors) {
    nlohmann::ordered_json value;
    value["dtype"] = safetensors_name_of(entry.dtype);
    value["shape"] = entry.shape;
    value["data_offsets"] = {entry.begin, entry.end};
    members.emplace_back(entry.name, std::move(value));
  }
  std::string text = root.dump();
  // With this padding, the data begins at a multiple of 8 bytes, so that tensors are aligned if the file is mapped into
  // memory.
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace trainyard::checkpoints
