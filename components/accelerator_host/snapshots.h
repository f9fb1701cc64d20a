// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "components/accelerator_host/run_position.h"
#include "components/accelerator_host/runner.h"
#include "core/component/output.h"
#include "messages/order.h"
#include "messages/run_state.h"

namespace trainyard::host {

/// Requests copies of the arena (the memory with all parameters) from the checkpoint writer, and counts the requested
/// copies that have not been made yet.
///
/// Until all requested copies have been made, the optimizer must not update the parameters. The next step may be
/// computed unless hold_computing() returns true. If a device plugin first copies the arena to host memory
/// (SnapshotCopies), the request is sent to the checkpoint writer only after these copies are complete.
class Snapshots {
 public:
  /// A function that any thread may call, and that runs a task on the thread of the accelerator host.
  using RunLater = std::function<void(std::function<void()> task)>;

  Snapshots(Runner& runner, Output<Snapshot>& output, std::uint32_t rank, RunLater run_later)
      : runner_(runner), output_(output), rank_(rank), run_later_(std::move(run_later)) {}

  /// Prepares the rank's memory and requests a copy for the checkpoint that `order` requests. The checkpoint also
  /// contains `position`. All ranks must call this function, because ranks may communicate during the call. Returns
  /// false, and requests nothing, if this rank has no connection to a checkpoint writer.
  bool ask(const Order& order, const RunPosition& position);

  /// Records that one copy has been made.
  void taken();

  /// If requests still wait for copies to host memory, waits for these copies and sends the requests. Called when the
  /// run is ending.
  void finish();

  bool pending() const { return pending_ > 0; }
  /// Returns true if even the next forward pass must wait, because it would change buffers that are being copied.
  /// Returns false if a device plugin makes the copies, because the device itself then delays the forward pass.
  bool hold_computing() const {
    return pending() && runner_.arena().has_buffers() && runner_.snapshot_copies() == nullptr;
  }
  /// Returns true if the order must wait, because it would copy the arena to memory that the checkpoint writer still
  /// reads.
  bool hold_order(const Order& order) const {
    return pending() && order.kind == OrderKind::kCheckpoint && runner_.snapshot_copies() != nullptr;
  }

 private:
  void send_when_copied(Snapshot message);

  Runner& runner_;
  Output<Snapshot>& output_;
  std::uint32_t rank_;
  RunLater run_later_;
  std::deque<Snapshot> copying_;  ///< The requests that wait for copies to host memory.
  std::uint32_t pending_ = 0;
};

}  // namespace trainyard::host
