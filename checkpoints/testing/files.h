// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "messages/error.h"
#include "messages/tensor.h"

namespace trainyard::checkpoints::testing {

/// A new directory for one test. The destructor removes it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = std::filesystem::temp_directory_path() / "trainyard-checkpoint-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

/// Changes one byte of a file. `from_end` counts from the end of the file: 1 is the last byte, 2 is the byte before it.
inline void flip_byte(const std::string& path, std::size_t from_end) {
  std::string bytes = read_file(path);
  bytes[bytes.size() - from_end] ^= 1;
  write_file(path, bytes);
}

/// Returns the text of the Error that `action` throws, or an empty string if it does not throw.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Returns a one-dimensional float32 tensor with these values.
inline Tensor floats(const std::vector<float>& values) {
  Tensor tensor = Tensor::empty(DType::kFloat32, {static_cast<std::int64_t>(values.size())});
  std::memcpy(tensor.data(), values.data(), tensor.bytes());
  return tensor;
}

}  // namespace trainyard::checkpoints::testing
