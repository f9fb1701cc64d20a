// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainyard::launch {

/// A launch file, or a file that it includes, as it was read. The file on disk may have changed since.
struct SourceFile {
  std::string path;
  std::string text;
};

}  // namespace trainyard::launch
