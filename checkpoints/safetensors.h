// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "checkpoints/durable_file.h"
#include "checkpoints/safetensors_header.h"

namespace trainyard::checkpoints {

/// A tensor to be written. `data` is not owned and must remain valid until the file is written.
struct SafetensorsTensor {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> data;
};

/// Writes a new file in the format of https://github.com/huggingface/safetensors, which other programs can read, and
/// waits until the file is on disk. Returns the size and the hash of the file. Tensors of wider dtypes come first, so
/// that every tensor is aligned. `metadata` becomes the entry `__metadata__` of the header. Throws kIo if the file
/// exists or cannot be written. Throws kInvalidArgument if two tensors have the same name, if a name is reserved or not
/// valid UTF-8, or if the header is too long. Throws kInternal if the size of a tensor's data does not match its dtype
/// and shape.
FileDigest write_safetensors(const std::string& path, const std::vector<SafetensorsTensor>& tensors,
                             const std::map<std::string, std::string>& metadata);

/// The arrangement of a safetensors file: what comes before the tensors' bytes, and the positions of those bytes.
struct SafetensorsPlan {
  std::string head;                   ///< The size of the header, followed by the header.
  std::vector<std::size_t> order;     ///< The indices of the given tensors, in the order of the file.
  std::vector<std::uint64_t> begins;  ///< For each of the given tensors, its position in the file.
  std::uint64_t bytes = 0;            ///< The size of the file.
};

/// Returns the arrangement of the file that write_safetensors() writes. Throws the same errors as that function, except
/// kIo. `path` is used only in error texts.
SafetensorsPlan plan_safetensors(const std::string& path, const std::vector<SafetensorsTensor>& tensors,
                                 const std::map<std::string, std::string>& metadata);

/// A safetensors file from any source, open for reading. The file is not trusted: everything in it is checked before
/// use, and memory is allocated only for sizes that do not exceed the size of the file.
class SafetensorsFile {
 public:
  /// Opens the file, and reads and checks its header. Throws kNotFound if the file does not exist, kIo if it cannot be
  /// read, kCorrupt if it is malformed, and kUnsupported for a dtype that Trainyard does not have.
  explicit SafetensorsFile(const std::string& path);

  const SafetensorsHeader& header() const { return header_; }
  const std::string& path() const { return file_.path(); }

  /// Fills `into` with bytes of `entry`, a tensor of this file, starting at byte `offset` of the tensor. Throws
  /// kInternal if the range is not inside the tensor, kCorrupt if the file has shrunk, and kIo if it cannot be read.
  void read(const SafetensorsEntry& entry, std::span<std::byte> into, std::uint64_t offset = 0) const;

 private:
  InputFile file_;
  std::uint64_t data_start_ = 0;
  SafetensorsHeader header_;
};

}  // namespace trainyard::checkpoints
