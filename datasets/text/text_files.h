// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace trainyard::text {

/// The bytes of a file, and its path for errors.
struct File {
  std::string path;
  std::string bytes;
};

/// Reads the file at `path`, or the files of the folder `path`, sorted bytewise by name. Links are followed. Everything
/// that is no regular file (subfolders, pipes, dangling links) is skipped. A file with several names is read once,
/// since text that came twice could be trained on and validated on. Throws kNotFound and kIo.
std::vector<File> read_text_files(const std::string& path);

}  // namespace trainyard::text
