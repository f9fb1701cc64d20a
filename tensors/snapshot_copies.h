// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "devices/fence.h"
#include "devices/stream.h"
#include "tensors/mirrored_block.h"

namespace trainyard {

/// Copies blocks of a device plugin's memory to their mirrors in host memory for a checkpoint, while the device goes on
/// computing. The copies are made on a stream of their own. Fences keep the order: a copy begins when the work that was
/// submitted before begin() is done, and work that would change a block waits on the device until the block has been
/// copied.
///
/// All functions must be called on the thread of the accelerator host.
class SnapshotCopies {
 public:
  /// `native` must exist for as long as this object.
  explicit SnapshotCopies(const NativeDevice& native);
  /// Waits up to five seconds for the copies that have begun, so that no callback is called later.
  ~SnapshotCopies();
  SnapshotCopies(const SnapshotCopies&) = delete;
  SnapshotCopies& operator=(const SnapshotCopies&) = delete;

  /// Begins to copy the blocks. `buffers` may be empty. The next forward pass, which can change the buffers, waits
  /// until they have been copied. The caller must call hold_changes() before it submits work that changes the blocks in
  /// `others`.
  void begin(const MirroredBlock& buffers, std::span<const MirroredBlock* const> others);

  /// After this call, work that is submitted to the stream on which LibTorch computes waits on the device for all
  /// copies that have begun.
  void hold_changes();

  /// Makes a thread of the driver call `callback` when all copies that have begun are complete. `callback` must only
  /// post a task to an event loop; this task should call check().
  void when_complete(std::function<void()> callback) { stream_->then(std::move(callback)); }

  /// Throws an error if a copy has failed. Call this function only when all copies are complete.
  void check() { await_copies(*stream_); }

 private:
  const NativeDevice& native_;
  std::unique_ptr<devices::Stream> stream_;
  std::shared_ptr<devices::Fence> computed_;  ///< Its value is n when the n-th snapshot may begin.
  /// Its value is 2 n - 1 when the buffers of the n-th snapshot have been copied, and 2 n when all its blocks have.
  std::shared_ptr<devices::Fence> copied_;
  std::uint64_t begun_ = 0;
  std::uint64_t held_ = 0;  ///< The number of snapshots for which the compute stream waits or has waited.
};

}  // namespace trainyard
