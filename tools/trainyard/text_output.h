// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "messages/error.h"

namespace trainyard::tools {

/// A destination for text: a new file, or standard output. Because output is buffered, some errors are found only by
/// finish(), which must be called at the end.
class TextOutput {
 public:
  /// Creates the file `path`. If `path` is empty, the text goes to standard output. Throws kIo if the file exists or
  /// cannot be created.
  explicit TextOutput(const std::string& path) : path_(path) {
    if (path.empty()) return;
    file_ = std::fopen(path.c_str(), "wxe");
    if (file_ == nullptr) throw Error(Code::kIo, "cannot create {}: {}", path, std::strerror(errno));
  }
  ~TextOutput() {
    if (file_ != stdout) std::fclose(file_);
  }
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;

  void write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail();
  }
  void finish() {
    if (std::fflush(file_) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(Code::kIo, "cannot write {}: {}", path_.empty() ? "standard output" : path_, std::strerror(errno));
  }

  std::string path_;
  std::FILE* file_ = stdout;
};

}  // namespace trainyard::tools
