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

/// What the accelerator host and the optimizer of a rank on another host have announced. The tensors have types and
/// shapes, but no memory.
struct RemoteAnnouncement {
  std::shared_ptr<const ArenaInfo> arena;
  std::shared_ptr<const OptimizerState> optimizer;  ///< Null if the run has no optimizer.
};

/// Converts the description that a relay has sent. Throws kCorrupt if the shape or the type of a block is impossible.
RemoteAnnouncement announcement_of(const RemoteMemory& memory);

/// The checkpoint writer's side of the exchange with checkpoint relays, through which it reads and fills the memory of
/// ranks on other hosts. It adds the necessary ports to its owner. In a run on one host there are no relays, and every
/// function reports its result at once.
class RemoteRanks {
 public:
  /// `announced` is called whenever a relay has described the memory of its rank.
  RemoteRanks(Component& owner, std::function<void(const RemoteMemory&)> announced);

  /// A callback for the end of an operation. `error` is empty if the operation succeeded.
  using Done = std::function<void(const std::string& error)>;

  /// Checks that every relay can read and write in the folder `directory` of this host. Calls `done` when all of them
  /// have answered, with one sentence about the first that cannot.
  void probe(const std::string& directory, Done done);

  /// What happens to the bytes that the relays copy.
  enum class Then : std::uint8_t { kSend, kKeep };

  /// Asks the relays to copy the blocks in `into.layout()` that are on other hosts, and calls `copied` when all of them
  /// have done so. With kSend, their bytes then arrive in `into`, which must stay alive until receive() has reported
  /// the end. With kKeep, the relays wait for write().
  void copy(StateCopy& into, Then then, Done copied);

  /// Calls `complete` when every byte that copy() asked for has arrived.
  void receive(Done complete);

  /// Lets the relays write what they have copied into the files of `into`, which must stay alive until `complete` is
  /// called: when all of them have done so, or with the reason why one of them cannot.
  void write(SharedCheckpoint& into, Done complete);

  /// Sends the blocks `filled`, which have the values of a checkpoint, to the other hosts that need them. `layout` is
  /// the layout of the run, and `here` is with_memory_here(layout), in which the values are. Calls `done` when they are
  /// in the memory of all ranks.
  void restore(const StateLayout& layout, const StateLayout& here, const std::set<std::size_t>& filled,
               std::function<void()> done);

  /// Ends the copy in progress, if there is one. If copy() or receive() has not reported yet, it reports `error`.
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

  std::uint64_t order_ = 0;              ///< The checkpoint order for which blocks are being copied.
  StateCopy* into_ = nullptr;            ///< The copy that the arriving bytes belong to; null if none is in progress.
  SharedCheckpoint* shared_ = nullptr;   ///< What the relays are writing into; null if they are not.
  std::set<std::uint32_t> relays_;       ///< The ranks that have relays.
  std::optional<ProbeFile> probe_file_;  ///< Exists while answers to probe() are awaited.
  std::uint64_t missing_bytes_ = 0;      ///< The number of bytes that have not arrived yet.
  std::set<std::uint32_t> waiting_for_;  ///< The ranks whose relays have not answered yet.
  Done on_copied_, on_complete_, on_probed_;
  std::function<void()> on_restored_;
};

/// Returns the layout with zeroed memory on this host for all pieces that are on other hosts, so that a checkpoint can
/// be read into it. Replicas on other hosts are left out, because they get the bytes of the piece that they repeat.
StateLayout with_memory_here(const StateLayout& layout);

}  // namespace trainyard
