// SPDX-License-Identifier: Apache-2.0
#include "launch/run/line_splitter.h"

#include <utility>

namespace trainyard::launch {

void LineSplitter::feed(std::string_view bytes, const Take& take) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const bool complete = end != std::string_view::npos;
    begun_ += bytes.substr(0, end);
    bytes.remove_prefix(complete ? end + 1 : bytes.size());
    // A part of a long line can end in the middle of a UTF-8 character.
    if (complete || begun_.size() > kLongest) {
      const std::string line = std::exchange(begun_, {});
      std::string_view text = line;
      // Programs for other systems, and some progress bars, print a carriage return before the newline.
      if (text.ends_with('\r')) text.remove_suffix(1);
      take(text);
    }
  }
}

void LineSplitter::finish(const Take& take) {
  if (!begun_.empty()) take(std::exchange(begun_, {}));
}

}  // namespace trainyard::launch
