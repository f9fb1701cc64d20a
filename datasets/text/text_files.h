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
/// that is not a regular file (subfolders, pipes, dangling links) is skipped. A file to which several links lead is
/// read once, because text that occurs twice could be in both splits. Throws kNotFound, kIo, and kInvalidArgument for a
/// `path` that is something else.
std::vector<File> read_text_files(const std::string& path);

}  // namespace trainyard::text
