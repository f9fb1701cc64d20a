// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "messages/error.h"

namespace trainyard::testing {

/// A temporary folder for one test. The destructor removes the folder and everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "trainyard_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw Error(Code::kIo, "cannot make a folder like {}", name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;  // A test that fails may have left anything behind.
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// Returns the absolute path, without a trailing '/'.
  const std::string& path() const { return path_; }

  /// Returns the path of the file `name` in the folder. The file need not exist.
  std::string path(const std::string& name) const { return path_ + "/" + name; }

  /// Writes `text` to the file `name` in the folder, creating parent folders if necessary, and returns the path of the
  /// file.
  std::string write(const std::string& name, std::string_view text) const {
    const std::filesystem::path path = std::filesystem::path(path_) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

 private:
  std::string path_;
};

}  // namespace trainyard::testing
