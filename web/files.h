// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "web/message.h"

namespace trainyard::web {

/// The files that a server sends. They are all in memory. A request is compared with the complete paths of these files,
/// so no request can lead out of the folder from which they were read.
class Files {
 public:
  /// Reads all regular files below `folder`. Links are not followed. The file `index.html` is also found as "/". Throws
  /// kNotFound if the folder does not exist, kIo if a file cannot be read, and kUnsupported if there are more than 4096
  /// files or their total size exceeds 64 MiB.
  static Files of_folder(const std::string& folder);

  /// Adds one file. `path` begins with "/", and its extension determines the content type.
  void add(const std::string& path, std::string content);

  /// Returns the file as an answer, or null if there is none.
  const Response* find(const std::string& path) const;

  bool empty() const { return files_.empty(); }

 private:
  std::map<std::string, Response> files_;
};

}  // namespace trainyard::web
