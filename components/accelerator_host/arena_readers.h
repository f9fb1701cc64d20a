// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "components/accelerator_host/runner.h"
#include "core/component/input.h"
#include "core/component/output.h"
#include "messages/step.h"

namespace trainyard::host {

/// Tells other components, the readers, when they may read the arena (the memory with the parameters and gradients)
/// after a step. A reader answers when it is done. This class knows which answers are still missing.
///
/// Until all readers have answered, the next step may be computed, but the optimizer must not update the parameters. If
/// the model has buffers, the next step must not even be computed, because a forward pass would change the buffers. If
/// there are no readers, the functions do nothing. Nobody waits for a reader whose process has died. If the process is
/// restarted, the reader counts again from the next step on.
class ArenaReaders {
 public:
  /// A reader is a component that is connected to both `output` and the input `answers`. Visitors are not readers.
  ArenaReaders(Runner& runner, Output<ArenaReadable>& output, const InputBase& answers, std::uint32_t rank)
      : runner_(runner), output_(output), answers_(answers), rank_(rank) {}

  /// Brings the arena in host memory up to date if the device has separate memory, and sends ArenaReadable to the
  /// readers. Step `step` must be complete.
  void show(std::uint64_t step);

  /// Records the answer of the reader with the index `reader` in the plan. Ignores answers that are meant for other
  /// ranks, and late answers of a reader that has died. Throws kInternal for any other answer that is not expected.
  void read(const ArenaRead& answer, std::uint32_t reader);

  /// Returns true while the answer of a living reader is missing. The output calls its callback on_ready() when this
  /// can have changed because a reader has died.
  bool pending() const;
  /// Returns true if even the next forward pass must wait, because it would change buffers that are being read.
  bool hold_computing() const { return pending() && runner_.arena().has_buffers(); }

 private:
  Runner& runner_;
  Output<ArenaReadable>& output_;
  const InputBase& answers_;
  std::uint32_t rank_;
  std::uint64_t step_ = 0;
  std::set<std::uint32_t> awaited_;  ///< The readers that have not answered ArenaReadable of step `step_`.
  /// The readers that died before they answered, and the step of the missing answer. The answer may still arrive.
  std::map<std::uint32_t, std::uint64_t> lost_;
};

}  // namespace trainyard::host
