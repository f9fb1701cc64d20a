// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "recordings/scan.h"

namespace trainyard::recordings {

/// The result of repair().
struct Repaired {
  std::uint64_t messages = 0;  ///< The number of messages in the new file.
  /// The number of messages that were left out because the file does not describe their channel.
  std::uint64_t unknown_messages = 0;
  Scan damage;  ///< The result of scan() for `from`; `damage.contents` lists the chunks that were kept.
};

/// Copies everything that is undamaged in the file `from` to the new file `to`, with an index and checksums. If `from`
/// is a damaged recording of a run, the metadata of the new file (recording.h) states that the recording is incomplete.
/// Throws kNotFound if `from` does not exist, kCorrupt if it is not an MCAP file, and kIo if `to` exists or a file
/// cannot be read or written.
Repaired repair(const std::string& from, const std::string& to);

}  // namespace trainyard::recordings
