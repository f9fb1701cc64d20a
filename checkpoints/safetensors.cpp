// SPDX-License-Identifier: Apache-2.0
#include "checkpoints/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "messages/error.h"
#include "messages/tensor.h"

namespace trainyard::checkpoints {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian, and so are the tensors");

SafetensorsHeader lay_out(const std::vector<SafetensorsTensor>& tensors, const std::vector<std::size_t>& order,
                          const std::map<std::string, std::string>& metadata, const std::string& path) {
  SafetensorsHeader header{.tensors = {}, .metadata = metadata};
  // This is the only name that the format reserves.
  std::set<std::string> names{"__metadata__"};
  std::uint64_t position = 0;
  for (const std::size_t index : order) {
    const SafetensorsTensor& tensor = tensors[index];
    if (!names.insert(tensor.name).second) {
      throw Error(Code::kInvalidArgument, "{}: the tensor name '{}' is taken", path, tensor.name);
    }
    if (tensor.data.size() != checked_bytes(tensor.dtype, tensor.shape)) {
      throw Error(Code::kInternal, "{}: tensor '{}' of shape {} with {} bytes", path, tensor.name,
                  to_text(tensor.shape), tensor.data.size());
    }
    header.tensors.push_back({tensor.name, tensor.dtype, tensor.shape, position, position + tensor.data.size()});
    position += tensor.data.size();
  }
  return header;
}

/// Returns the text of the header. Throws kInvalidArgument if the format does not allow the header, for instance
/// because a name is not valid UTF-8.
std::string header_text(const SafetensorsHeader& header, const std::string& path) {
  try {
    std::string text = format_safetensors_header(header);
    if (text.size() <= kMaxSafetensorsHeader) return text;
    throw Error(Code::kInvalidArgument, "{}: a header of {} bytes; the format allows {}", path, text.size(),
                kMaxSafetensorsHeader);
  } catch (const nlohmann::json::exception& error) {
    throw Error(Code::kInvalidArgument, "{}: a tensor name cannot be written: {}", path, error.what());
  }
}

std::uint64_t read_header_size(const InputFile& file) {
  std::uint64_t size = 0;
  if (file.size() < sizeof size) {
    throw Error(Code::kCorrupt, "{}: {} bytes are too few for a safetensors file", file.path(), file.size());
  }
  file.read(0, std::as_writable_bytes(std::span(&size, 1)));
  // The size of the header is checked before memory is allocated, because the file is not trusted.
  if (size > kMaxSafetensorsHeader || size > file.size() - sizeof size) {
    throw Error(Code::kCorrupt, "{}: a header of {} bytes; at most {} are allowed, and the file has {}", file.path(),
                size, kMaxSafetensorsHeader, file.size());
  }
  return size;
}

}  // namespace

SafetensorsPlan plan_safetensors(const std::string& path, const std::vector<SafetensorsTensor>& tensors,
                                 const std::map<std::string, std::string>& metadata) {
  SafetensorsPlan plan{.order = std::vector<std::size_t>(tensors.size()),
                       .begins = std::vector<std::uint64_t>(tensors.size())};
  std::iota(plan.order.begin(), plan.order.end(), std::size_t{0});
  // The sort is stable, so tensors whose dtypes have the same width keep the order in which they were given.
  std::ranges::stable_sort(plan.order, std::ranges::greater(),
                           [&](std::size_t index) { return size_of(tensors[index].dtype); });
  const std::string header = header_text(lay_out(tensors, plan.order, metadata, path), path);
  const std::uint64_t header_size = header.size();
  // The file consists of the size of the header (u64), the header, and the tensors' bytes one after another.
  plan.head.assign(reinterpret_cast<const char*>(&header_size), sizeof header_size);
  plan.head += header;
  plan.bytes = plan.head.size();
  for (const std::size_t index : plan.order) {
    plan.begins[index] = plan.bytes;
    plan.bytes += tensors[index].data.size();
  }
  return plan;
}

FileDigest write_safetensors(const std::string& path, const std::vector<SafetensorsTensor>& tensors,
                             const std::map<std::string, std::string>& metadata) {
  const SafetensorsPlan plan = plan_safetensors(path, tensors, metadata);
  DurableFile file(path);
  file.write(plan.head);
  for (const std::size_t index : plan.order) file.write(tensors[index].data);
  return file.close();
}

SafetensorsFile::SafetensorsFile(const std::string& path) : file_(path) {
  // Only the header is read now. Tensors are read when read() is called.
  const std::uint64_t header_size = read_header_size(file_);
  std::string text(header_size, '\0');
  file_.read(sizeof header_size, std::as_writable_bytes(std::span(text)));
  data_start_ = sizeof header_size + header_size;
  header_ = parse_safetensors_header(text, file_.size() - data_start_, path);
}

void SafetensorsFile::read(const SafetensorsEntry& entry, std::span<std::byte> into, std::uint64_t offset) const {
  const std::uint64_t bytes = entry.end - entry.begin;
  if (offset > bytes || into.size() > bytes - offset) {
    throw Error(Code::kInternal, "{}: tensor '{}' has {} bytes, {} from byte {} on were asked for", path(), entry.name,
                bytes, into.size(), offset);
  }
  file_.read(data_start_ + entry.begin + offset, into);
}

}  // namespace trainyard::checkpoints
