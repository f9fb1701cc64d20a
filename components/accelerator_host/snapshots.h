// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "components/accelerator_host/run_position.h"
#include "components/accelerator_host/runner.h"
#include "core/component/output.h"
#include "messages/order.h"
#include "messages/run_state.h"

namespace trainyard::host {

/// Requests copies of the arena (the memory with all parameters) from the checkpoint writer, and counts the copies that
/// have not been made yet. There can be several.
///
/// Until all requested copies have been made, the next step may be computed, but the optimizer must not update the
/// parameters.
class Snapshots {
 public:
  Snapshots(Runner& runner, Output<Snapshot>& output, std::uint32_t rank)
      : runner_(runner), output_(output), rank_(rank) {}

  /// Prepares the rank's memory and requests a copy for the checkpoint that `order` requests. The checkpoint also
  /// contains `position`. All ranks must call this function, because ranks may communicate during the call. Returns
  /// false if this rank has no connection to a checkpoint writer.
  bool ask(const Order& order, const RunPosition& position);

  /// Records that one copy has been made.
  void taken();

  bool pending() const { return pending_ > 0; }
  /// Returns true if even the next forward pass must wait, because it would change buffers that are being copied.
  bool hold_computing() const { return pending() && runner_.arena().has_buffers(); }

 private:
  Runner& runner_;
  Output<Snapshot>& output_;
  std::uint32_t rank_;
  std::uint32_t pending_ = 0;
};

}  // namespace trainyard::host
