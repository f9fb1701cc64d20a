// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "components/checkpoint_writer/temporary_checkpoint.h"
#include "messages/remote_memory.h"

namespace trainyard {

/// A file that shows whether other hosts share a folder: it contains a text that nobody can guess. A host that can read
/// it and can put a copy beside it shares the folder. The file and the copies are in a temporary directory, which the
/// destructor removes.
class ProbeFile {
 public:
  /// Writes the file below `directory`. Throws kIo.
  explicit ProbeFile(const std::string& directory);

  /// Returns what the relays are asked.
  FolderProbe question() const { return {.path = path_, .text = text_}; }

  /// Returns why the host of the relay that has answered cannot use the folder, as a sentence for the user. Returns an
  /// empty text if it can.
  std::string problem_with(const FolderProbed& answer) const;

 private:
  std::string directory_;
  TemporaryCheckpoint temporary_;
  std::string path_, text_;
};

}  // namespace trainyard
