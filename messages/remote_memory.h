// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "messages/arena.h"
#include "messages/tensor.h"

namespace trainyard {

/// The name, type and shape of an ArenaBlock (a block of the arena or of the optimizer's state) whose memory is on
/// another host.
struct RemoteBlock {
  static constexpr const char* kTypeName = "RemoteBlock";

  std::string name;
  std::uint8_t dtype = 7;  ///< The DType, as a number.
  std::vector<std::int64_t> shape;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(name), CEREAL_NVP(dtype), CEREAL_NVP(shape));
  }
};

/// The description of the memory of a rank that is not on the host of the checkpoint writer. Such a rank has a
/// checkpoint relay, a component that copies the rank's memory for a checkpoint, and sends the copy to the checkpoint
/// writer or writes it into the checkpoint's files. The relay sends this message once, when the accelerator host and
/// the optimizer of its rank have announced their memory (ArenaInfo, OptimizerState).
struct RemoteMemory {
  static constexpr const char* kTypeName = "RemoteMemory";

  ArenaInfo arena;  ///< The message of the accelerator host, without its blocks.
  std::vector<RemoteBlock> arena_blocks;
  bool has_optimizer = false;  ///< False if the rank has no optimizer; the fields below are then empty.
  OptimizerState optimizer;    ///< The message of the optimizer, without its blocks.
  std::vector<RemoteBlock> optimizer_blocks;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(arena), CEREAL_NVP(arena_blocks), CEREAL_NVP(has_optimizer), CEREAL_NVP(optimizer),
            CEREAL_NVP(optimizer_blocks));
  }
};

/// The rank and the index of one block of RemoteMemory.
struct BlockPlace {
  static constexpr const char* kTypeName = "BlockPlace";

  std::uint32_t rank = 0;
  /// The index of the block. The blocks of the arena are counted first, then those of the optimizer.
  std::uint32_t block = 0;

  friend bool operator==(const BlockPlace&, const BlockPlace&) = default;
  friend auto operator<=>(const BlockPlace&, const BlockPlace&) = default;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(block));
  }
};

/// The checkpoint writer's request to the checkpoint relays to copy blocks of their ranks. The checkpoint writer sends
/// it while the accelerator hosts of all ranks wait for SnapshotTaken. A relay ignores the request if no block of its
/// rank is listed.
struct CopyMemory {
  static constexpr const char* kTypeName = "CopyMemory";

  std::uint64_t order = 0;  ///< The id of the checkpoint order.
  std::uint64_t step = 0;
  std::vector<BlockPlace> blocks;
  /// True if the relay must keep the copies until it receives WriteMemory; false if it must send them (MemoryPart).
  bool keep = false;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(step), CEREAL_NVP(blocks), CEREAL_NVP(keep));
  }
};

/// A checkpoint relay's first answer to CopyMemory: the relay has copied the blocks, so the rank may change them again.
/// Afterwards, the relay sends the copies (MemoryPart), or keeps them if CopyMemory::keep is true.
struct MemoryCopied {
  static constexpr const char* kTypeName = "MemoryCopied";

  std::uint64_t order = 0;
  std::uint32_t rank = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(rank));
  }
};

/// A piece of a block that a checkpoint relay has copied. Unless CopyMemory::keep is true, the relay sends every byte
/// of the requested blocks once, while training continues.
struct MemoryPart {
  static constexpr const char* kTypeName = "MemoryPart";

  std::uint64_t order = 0;
  BlockPlace place;
  std::uint64_t begin_bytes = 0;  ///< Where the piece begins in the block, in bytes.
  Tensor data;                    ///< The bytes, as uint8.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(place), CEREAL_NVP(begin_bytes), CEREAL_NVP(data));
  }
};

/// A range of a block that a checkpoint relay has copied, and its place in a file of the checkpoint.
struct MemoryRange {
  static constexpr const char* kTypeName = "MemoryRange";

  BlockPlace place;
  std::uint64_t begin_bytes = 0;  ///< Where the range begins in the block, in bytes.
  std::uint64_t bytes = 0;
  std::uint32_t file = 0;  ///< The index of the file in WriteMemory::files.
  std::uint64_t at = 0;    ///< Where the range begins in the file, in bytes.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(place), CEREAL_NVP(begin_bytes), CEREAL_NVP(bytes), CEREAL_NVP(file), CEREAL_NVP(at));
  }
};

/// The checkpoint writer's request to the checkpoint relays to write their copies into the files of a checkpoint. The
/// files exist already, in a folder that all hosts share. Each relay writes only the ranges of its own rank, in the
/// order of the list, and then answers with MemoryWritten. A relay without ranges discards its copies and does not
/// answer.
struct WriteMemory {
  static constexpr const char* kTypeName = "WriteMemory";

  std::uint64_t order = 0;         ///< The id of the checkpoint order.
  std::string folder;              ///< The absolute path of the folder.
  std::vector<std::string> files;  ///< The names of the files in the folder.
  std::vector<MemoryRange> ranges;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(folder), CEREAL_NVP(files), CEREAL_NVP(ranges));
  }
};

/// The bytes that a checkpoint relay has written into one file.
struct WrittenPart {
  static constexpr const char* kTypeName = "WrittenPart";

  std::uint32_t file = 0;   ///< The index of the file in WriteMemory::files.
  std::uint64_t bytes = 0;  ///< The number of bytes written.
  std::string sha256;       ///< The SHA-256 digest of the bytes, in the order of WriteMemory::ranges.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(file), CEREAL_NVP(bytes), CEREAL_NVP(sha256));
  }
};

/// A checkpoint relay's answer to WriteMemory. The relay sends it when everything that it has written is synced to
/// disk, or when it could not write.
struct MemoryWritten {
  static constexpr const char* kTypeName = "MemoryWritten";

  std::uint64_t order = 0;
  std::uint32_t rank = 0;
  std::vector<WrittenPart> parts;  ///< One for each file with ranges of the rank; empty if there is an error.
  std::string error;               ///< Why the relay could not write; empty if it has written everything.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(rank), CEREAL_NVP(parts), CEREAL_NVP(error));
  }
};

/// The checkpoint writer's request to the checkpoint relays to check that they can access the same folder for
/// checkpoints as the checkpoint writer. Each relay checks that the file at `path` contains `text`, writes `text` into
/// a new file whose path is `path` followed by "-" and the number of the relay's rank, and answers with FolderProbed.
struct FolderProbe {
  static constexpr const char* kTypeName = "FolderProbe";

  std::string path;  ///< The absolute path of a file that the checkpoint writer has made in the folder.
  std::string text;  ///< The text that this file contains.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(path), CEREAL_NVP(text));
  }
};

/// A checkpoint relay's answer to FolderProbe.
struct FolderProbed {
  static constexpr const char* kTypeName = "FolderProbed";

  std::uint32_t rank = 0;
  std::string host;   ///< The name of the relay's host.
  std::string error;  ///< Why the relay cannot use the folder; empty if it has read the file and written the new file.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(host), CEREAL_NVP(error));
  }
};

/// A piece of the checkpoint from which the run resumes, for ranks that are not on the host of the checkpoint writer.
/// The checkpoint writer sends it to all checkpoint relays, and each relay uses it if `places` contains a block of its
/// rank.
struct RestoredMemory {
  static constexpr const char* kTypeName = "RestoredMemory";

  std::vector<BlockPlace> places;  ///< The blocks into which the bytes are copied.
  std::uint64_t begin_bytes = 0;   ///< Where the piece begins in each of these blocks.
  Tensor data;                     ///< The bytes, as uint8; empty in the last message.
  bool last = false;               ///< True if everything has been sent. Every relay then answers with MemoryRestored.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(places), CEREAL_NVP(begin_bytes), CEREAL_NVP(data), CEREAL_NVP(last));
  }
};

/// A checkpoint relay's answer to the last RestoredMemory: the memory of the relay's rank now has the values of the
/// checkpoint.
struct MemoryRestored {
  static constexpr const char* kTypeName = "MemoryRestored";

  std::uint32_t rank = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank));
  }
};

}  // namespace trainyard
