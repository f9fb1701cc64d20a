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
/// makes the files. Then the checkpoint relays of the other hosts write the ranges of their ranks, this host writes the
/// rest, and reads everything again: no checkpoint gets a name before all of its bytes are what their hosts have
/// written.
///
/// The component's thread uses the object until it has passed the checkpoint on for writing; from then on the writer's
/// thread uses it.
class SharedCheckpoint {
 public:
  /// Makes the temporary directory. Throws kIo.
  SharedCheckpoint(std::string directory, std::string name) : temporary_(std::move(directory), std::move(name)) {}

  /// Makes a file of tensors. The first of them are those of `slices`, in the same order; their remote pieces are
  /// written by other hosts. The memory of the tensors must remain valid as long as this object. Throws as
  /// write_safetensors().
  void add_file(const std::string& name, const std::vector<checkpoints::SafetensorsTensor>& tensors,
                const StateLayout& layout, const std::vector<StateSlice>& slices,
                const std::map<std::string, std::string>& metadata);

  /// Returns what the relays must write.
  WriteMemory request(std::uint64_t order) const;

  /// Returns the ranks whose relays must write something.
  std::set<std::uint32_t> ranks() const;

  /// Takes the answer of a relay.
  void add(const MemoryWritten& answer);

  /// Writes what this host has, reads all files, and returns their digests. Throws kCorrupt, naming the file and the
  /// rank, if a part is not as long as it must be or does not have the bytes that the rank's host has written, and kIo.
  std::map<std::string, checkpoints::FileDigest> finish();

  TemporaryCheckpoint& temporary() { return temporary_; }

 private:
  /// A range of a file: bytes of this host, or of a rank on another host.
  struct Range {
    std::uint64_t at = 0;
    std::uint64_t bytes = 0;
    std::span<const std::byte> near;  ///< Empty if the bytes are on another host.
    BlockPlace place;                 ///< Where they are there.
    std::uint64_t begin = 0;          ///< Their offset in the block of the rank.

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
  /// What the relays say that they have written, by the index of the file and the rank.
  std::map<std::pair<std::uint32_t, std::uint32_t>, checkpoints::FileDigest> parts_;
};

}  // namespace trainyard
