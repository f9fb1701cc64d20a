// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "recordings/scan.h"

namespace trainyard::recordings {

/// What repair() has done.
struct Repaired {
  std::uint64_t messages = 0;          ///< The messages in the new file.
  std::uint64_t unknown_messages = 0;  ///< Messages that were left out, because their channel is not described.
  Scan damage;                         ///< What was wrong in the old file. Its chunks are those that were kept.
};

/// Writes everything that is whole in the file `from` to the new file `to`, with an index and checksums. The metadata
/// record of a recording (recording.h) then says that the recording is incomplete. Throws kCorrupt if `from` is no MCAP
/// file, and kIo if `to` exists or a file cannot be read or written.
Repaired repair(const std::string& from, const std::string& to);

}  // namespace trainyard::recordings
