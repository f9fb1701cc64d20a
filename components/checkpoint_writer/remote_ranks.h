// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "components/checkpoint_writer/probe_file.h"
#include "components/checkpoint_writer/state_copy.h"
#include "components/checkpoint_writer/state_layout.h"
#include "core/component/input.h"
#include "core/component/output.h"
#include "messages/remote_memory.h"

namespace trainyard {

/// The messages in which the accelerator host and the optimizer of a rank on another host announce their memory. The
/// tensors have types and shapes, but no memory, because this process cannot access it.
struct RemoteAnnouncement {
  std::shared_ptr<const ArenaInfo> arena;
  std::shared_ptr<const OptimizerState> optimizer;  ///< Null if the run has no optimizer.
};

/// Converts a message in which a checkpoint relay (a component on another host) has described the memory of its rank.
/// Throws kCorrupt if the shape or the type of a block is impossible.
RemoteAnnouncement announcement_of(const RemoteMemory& memory);

/// Copies and restores the memory of ranks on other hosts, for the checkpoint writer. It exchanges messages with the
/// checkpoint relays, the components that do this work on those hosts. It adds the necessary inputs and outputs to its
/// owner. In a run on one host there are no relays: write() must not be called, and every other function calls its
/// callback before it returns.
class RemoteRanks {
 public:
  /// Calls `announced` whenever a relay has described the memory of its rank.
  RemoteRanks(Component& owner, std::function<void(const RemoteMemory&)> announced);

  /// Called at the end of an operation. `error` is empty if the operation succeeded.
  using Done = std::function<void(const std::string& error)>;

  /// Checks that every relay can read and write files in the folder `directory` of this host. Calls `done` with an
  /// empty string when all relays have answered that they can, or with one sentence about the first relay that cannot.
  /// All ranks must already have announced their memory.
  void probe(const std::string& directory, Done done);

  /// What the relays do with the bytes that they copy: send them to this host (kSend), or keep them until write() is
  /// called (kKeep).
  enum class Then : std::uint8_t { kSend, kKeep };

  /// Asks the relays to copy the blocks of `into.layout()` that are on other hosts, and calls `copied` when all relays
  /// have done so. With kSend, the copied bytes then arrive and are written into `into`, which must stay alive until
  /// the callback of receive() is called. With kKeep, the relays keep their copies until write() is called.
  void copy(StateCopy& into, Then then, Done copied);

  /// Must be called after copy() with kSend. Calls `complete` when all bytes that copy() has requested have arrived.
  void receive(Done complete);

  /// Must be called after copy() with kKeep has called its callback. Lets the relays write their copies into the files
  /// of `into`, which must stay alive until `complete` is called. Calls `complete` when all relays have done so, or
  /// with the reason why one of them cannot.
  void write(SharedCheckpoint& into, Done complete);

  /// Sends the blocks with the indices `filled`, which have been read from a checkpoint, to the other hosts that need
  /// them. `layout` is the layout of the run, and `here` is the result of with_memory_here(layout), whose memory
  /// contains the values. Calls `done` when the values are in the memory of all ranks.
  void restore(const StateLayout& layout, const StateLayout& here, const std::set<std::size_t>& filled,
               std::function<void()> done);

  /// Cancels the copy in progress, if there is one, and passes `error` to the callback of copy(), receive() or write()
  /// that is still waiting to be called.
  void give_up(const std::string& error);

 private:
  void on_copied(const MemoryCopied& answer);
  void on_part(const MemoryPart& part);
  void on_restored(const MemoryRestored& answer);
  void on_written(const MemoryWritten& answer);
  void on_probed(const FolderProbed& answer);
  void send_block(const StatePiece& piece, std::vector<BlockPlace> places);
  void report_if_complete();

  Output<CopyMemory> copy_;
  Output<RestoredMemory> restored_;
  Input<RemoteMemory> memory_;
  Input<MemoryCopied> copied_;
  Input<MemoryPart> parts_;
  Input<MemoryRestored> answers_;
  Output<WriteMemory> write_;
  Input<MemoryWritten> written_;
  Output<FolderProbe> probe_;
  Input<FolderProbed> probed_;

  std::uint64_t order_ = 0;              ///< The id of the order for which blocks are copied.
  StateCopy* into_ = nullptr;            ///< The copy into which bytes arrive; null if none is in progress.
  SharedCheckpoint* shared_ = nullptr;   ///< The files into which the relays are writing; null if they are not writing.
  std::set<std::uint32_t> relays_;       ///< The ranks that have relays.
  std::optional<ProbeFile> probe_file_;  ///< Exists while answers to probe() are awaited.
  std::uint64_t missing_bytes_ = 0;      ///< The number of bytes that have not arrived yet.
  std::set<std::uint32_t> waiting_for_;  ///< The ranks whose relays have not answered yet.
  Done on_copied_, on_complete_, on_probed_;
  std::function<void()> on_restored_;
};

/// Returns a copy of `layout` in which all pieces on other hosts have zeroed memory on this host, so that a checkpoint
/// can be read into them. Replicas on other hosts are left out, because they get the same bytes as the piece that they
/// replicate.
StateLayout with_memory_here(const StateLayout& layout);

}  // namespace trainyard
