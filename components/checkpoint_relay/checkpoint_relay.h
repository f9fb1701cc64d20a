// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "components/checkpoint_relay/copies.h"
#include "core/component/component.h"
#include "core/component/gate.h"
#include "messages/arena.h"
#include "messages/remote_memory.h"

namespace trainyard {

/// The component that lets the checkpoint writer save and restore the parameters and the optimizer's state of a rank on
/// another host. The checkpoint writer normally does so through shared memory, which exists only within a host. The
/// launcher therefore adds a relay for every rank that is on another host (docs/decisions/0035).
///
/// For a checkpoint, the relay copies the blocks of memory that the checkpoint writer requests, and reports that the
/// copies have been made. While training continues, it sends the copies, or writes them into files in a folder that all
/// hosts share (docs/decisions/0037). When a run resumes, the relay receives values from the checkpoint writer and
/// writes them into the memory of the rank.
class CheckpointRelay final : public Component {
 public:
  static inline const ComponentTraits kTraits{.per_rank = true, .thread = "io", .restartable = false};

  explicit CheckpointRelay(ComponentContext& context);

 private:
  void announce();
  /// Returns the rank's block of memory with this index (see BlockPlace). Throws kCorrupt if the rank has no such
  /// block.
  const Tensor& block(std::uint32_t index) const;
  void on_copy(const CopyMemory& request);
  void send_block(std::uint64_t order, std::uint32_t index, const Buffer& copy);
  void on_restored(const RestoredMemory& piece);
  void on_write(const WriteMemory& request);
  std::vector<WrittenPart> write(const WriteMemory& request) const;
  void on_probe(const FolderProbe& probe);

  Output<RemoteMemory> memory_{*this, "remote_memory", "the memory of the rank", {.topic = "/remote_memory"}};
  Output<MemoryCopied> copied_{
      *this, "memory_copied", "the rank may change its memory again", {.topic = "/memory_copied"}};
  Output<MemoryPart> parts_{*this, "memory_parts", "what was copied", {.topic = "/memory_parts"}};
  Output<MemoryRestored> done_{
      *this, "memory_restored", "the memory has the values of the checkpoint", {.topic = "/memory_restored"}};

  Output<MemoryWritten> written_{*this, "memory_written", "the copies are in the files", {.topic = "/memory_written"}};
  Output<FolderProbed> probed_{
      *this, "folder_probed", "whether this host shares the folder", {.topic = "/folder_probed"}};

  Input<ArenaInfo> arena_{*this, "arena", "the model's memory", [this](const auto& m) {
                            arena_info_ = m;
                            has_arena_.arrived();
                          }};
  Input<OptimizerState> optimizer_state_{*this,
                                         "optimizer_state",
                                         "the optimizer's memory",
                                         [this](const auto& m) {
                                           optimizer_info_ = m;
                                           has_state_.arrived();
                                         },
                                         {.optional = true}};
  Input<CopyMemory> copy_{*this,
                          "copy_memory",
                          "what to copy for a checkpoint",
                          [this](const auto& m) { on_copy(*m); },
                          {.topic = "/copy_memory"}};
  Input<RestoredMemory> restored_{*this,
                                  "restored_memory",
                                  "values of a checkpoint",
                                  [this](const auto& m) { on_restored(*m); },
                                  {.topic = "/restored_memory"}};
  Input<WriteMemory> write_{*this,
                            "write_memory",
                            "where the copies are written",
                            [this](const auto& m) { on_write(*m); },
                            {.topic = "/write_memory"}};
  Input<FolderProbe> probe_{*this,
                            "folder_probe",
                            "whether this host shares a folder",
                            [this](const auto& m) { on_probe(*m); },
                            {.topic = "/folder_probe"}};

  Gate announce_{[this] { announce(); }};
  Gate::Need has_arena_{announce_, arena_};
  Gate::Need has_state_{announce_, optimizer_state_};

  std::shared_ptr<const ArenaInfo> arena_info_;
  std::shared_ptr<const OptimizerState> optimizer_info_;  ///< Null in a run without an optimizer.
  checkpoint_relay::Copies copies_;
  std::uint64_t kept_order_ = 0;          ///< The id of the order for which copies are kept.
  std::map<std::uint32_t, Buffer> kept_;  ///< The copies that wait for WriteMemory, by block index.
};

}  // namespace trainyard
