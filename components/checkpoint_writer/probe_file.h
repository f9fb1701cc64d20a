// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "components/checkpoint_writer/temporary_checkpoint.h"
#include "messages/remote_memory.h"

namespace trainyard {

/// A file that shows whether other hosts share a folder: it contains a text that nobody can guess. Another host
/// shares the folder if it can read the file and write a copy beside it that this host can read. The file and the
/// copies are in a temporary directory, which the destructor removes.
class ProbeFile {
 public:
  /// Writes the file below `directory`. Throws kIo if this fails.
  explicit ProbeFile(const std::string& directory);

  /// Returns the message that asks the checkpoint relays (the components that serve the checkpoint writer on other
  /// hosts) to read the file and write their copies.
  FolderProbe question() const { return {.path = path_, .text = text_}; }

  /// Returns a sentence for the user that says why the host of the relay that sent `answer` cannot use the folder.
  /// Returns an empty string if the host can use it.
  std::string problem_with(const FolderProbed& answer) const;

 private:
  std::string directory_;
  TemporaryCheckpoint temporary_;
  std::string path_, text_;
};

}  // namespace trainyard
