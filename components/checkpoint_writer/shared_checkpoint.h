// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checkpoints/safetensors.h"
#include "components/checkpoint_writer/state_layout.h"
#include "components/checkpoint_writer/temporary_checkpoint.h"
#include "messages/remote_memory.h"

namespace trainyard {

/// A checkpoint that several hosts write into one folder, which all of them share (docs/decisions/0037). This host
/// makes the files. Then the checkpoint relays (components on the other hosts) write the bytes of their ranks, and this
/// host writes the rest. Finally, this host reads all files again: the checkpoint gets its final name only if it
/// contains exactly the bytes that the other hosts have written.
///
/// At first, the object is used on the event loop of the checkpoint writer. After the checkpoint has been passed to the
/// BackgroundWriter, only the thread of the BackgroundWriter uses it.
class SharedCheckpoint {
 public:
  /// Makes the temporary directory in `directory`. `name` is the final name of the checkpoint. Throws kIo if this
  /// fails.
  SharedCheckpoint(std::string directory, std::string name) : temporary_(std::move(directory), std::move(name)) {}

  /// Makes the file `name` for `tensors`. The first tensors are those that `slices` describes, in the same order;
  /// `layout` contains the blocks of these slices. Other hosts write the pieces that are remote
  /// (StatePiece::is_remote). The memory of the tensors must remain valid as long as this object exists. Throws what
  /// write_safetensors() throws.
  void add_file(const std::string& name, const std::vector<checkpoints::SafetensorsTensor>& tensors,
                const StateLayout& layout, const std::vector<StateSlice>& slices,
                const std::map<std::string, std::string>& metadata);

  /// Returns the message that tells the relays what to write. `order` is the id of the checkpoint order.
  WriteMemory request(std::uint64_t order) const;

  /// Returns the ranks whose relays must write something.
  std::set<std::uint32_t> ranks() const;

  /// Records the answer of a relay. The answers of all ranks() must be recorded before finish() is called.
  void add(const MemoryWritten& answer);

  /// Writes the bytes of this host, reads all files, and returns their digests by name. Throws kCorrupt, naming the
  /// file, if a file has the wrong size or does not contain the bytes that a rank's host has written; in the second
  /// case, the error also names the rank. Throws kIo if a file cannot be written or read.
  std::map<std::string, checkpoints::FileDigest> finish();

  TemporaryCheckpoint& temporary() { return temporary_; }

 private:
  /// A range of a file: bytes of this host, or of a rank on another host.
  struct Range {
    std::uint64_t at = 0;
    std::uint64_t bytes = 0;
    std::span<const std::byte> near;  ///< Empty if the bytes are on another host.
    BlockPlace place;                 ///< If the bytes are on another host: the rank that has them, and its block.
    std::uint64_t begin = 0;          ///< The offset of the bytes in this block.

    bool is_remote() const { return near.empty(); }
  };
  struct File {
    std::string name;
    std::uint64_t head = 0;  ///< The number of bytes before the first range.
    std::uint64_t bytes = 0;
    std::vector<Range> ranges;  ///< In the order of the file.
  };

  std::string path_of(const File& file) const { return temporary_.path() + "/" + file.name; }
  void write_near(const File& file) const;
  checkpoints::FileDigest verify(std::uint32_t index) const;

  TemporaryCheckpoint temporary_;
  std::vector<File> files_;
  /// The sizes and hashes that the relays have reported, by the index of the file and the rank.
  std::map<std::pair<std::uint32_t, std::uint32_t>, checkpoints::FileDigest> parts_;
};

}  // namespace trainyard
