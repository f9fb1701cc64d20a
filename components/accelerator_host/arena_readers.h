// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "components/accelerator_host/runner.h"
#include "core/component/input.h"
#include "core/component/output.h"
#include "messages/step.h"

namespace trainyard::host {

/// Tells other components, the readers, when they may read the arena (the memory with the parameters and gradients)
/// after a step. A reader answers when it is done. This class counts the answers that are still missing.
///
/// Until all readers have answered, the next step may be computed, but the optimizer must not update the parameters. If
/// the model has buffers, the next step must not even be computed, because a forward pass would change the buffers. If
/// there are no readers, the functions do nothing.
class ArenaReaders {
 public:
  /// A reader is a component that is connected to both `output` and the input `answers`. Visitors are not readers.
  ArenaReaders(Runner& runner, Output<ArenaReadable>& output, const InputBase& answers, std::uint32_t rank)
      : runner_(runner), output_(output), answers_(answers), rank_(rank) {}

  /// Brings the arena in host memory up to date if the device has separate memory, and sends ArenaReadable to the
  /// readers. Step `step` must be complete.
  void show(std::uint64_t step);

  /// Records the answer of one reader. Ignores answers that are meant for other ranks. Throws kInternal for an answer
  /// that is not expected.
  void read(const ArenaRead& answer);

  bool pending() const { return pending_ > 0; }
  /// Returns true if even the next forward pass must wait, because it would change buffers that are being read.
  bool hold_computing() const { return pending() && runner_.arena().has_buffers(); }

 private:
  std::size_t count() const;

  Runner& runner_;
  Output<ArenaReadable>& output_;
  const InputBase& answers_;
  std::uint32_t rank_;
  std::uint64_t step_ = 0;
  std::size_t pending_ = 0;
};

}  // namespace trainyard::host
