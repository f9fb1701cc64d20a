#pragma once

#include <string>
#include <vector>

namespace trainyard {

/// A file's bytes as they are, and its path for errors.
struct TextFile {
  std::string path;
  std::string bytes;
};

/// The file at `path`, or the files of the folder `path`, sorted by name (bytewise). Links are followed; what is no
/// regular file (subfolders, pipes, dangling links) is skipped, and so is a further name of a file that was read
/// already: text that came twice could be trained on and validated on. Throws kNotFound and kIo.
std::vector<TextFile> read_text_files(const std::string& path);

}  // namespace trainyard
