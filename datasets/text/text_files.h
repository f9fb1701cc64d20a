// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace trainyard::text {

/// The content of a file, and its path for error messages.
struct File {
  std::string path;
  std::string bytes;
};

/// Reads the file `path`, or all files in the folder `path`, sorted bytewise by name. Links are followed. Entries of
/// the folder that are not regular files (subfolders, pipes, dangling links) are skipped. A file that several links
/// refer to is read only once, because its text could otherwise be in both splits. Throws kNotFound if `path` does not
/// exist or is a folder without a regular file, kIo if a file or the folder cannot be read, and kInvalidArgument if
/// `path` is neither a regular file nor a folder.
std::vector<File> read_text_files(const std::string& path);

}  // namespace trainyard::text
