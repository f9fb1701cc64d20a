// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "collectives/agreement.h"
#include "collectives/transport.h"

namespace trainyard::collectives {

/// The thread that carries out the operations.
enum class Thread : std::uint8_t {
  /// The thread that calls the collective. Operations make progress only during these calls. This is the fastest
  /// choice,
  /// because nothing is passed between threads.
  kCaller,
  kOwn,  ///< A separate thread of the group, so that operations make progress while the caller computes.
};

/// The parts that a backend supplies: agreement, attendance and transport. All parts are already connected. They are
/// destroyed in reverse order, so a later part may refer to an earlier one.
struct Backend {
  std::unique_ptr<Agreement> agreement;
  std::unique_ptr<Attendance> attendance;
  std::unique_ptr<Transport> messages;   ///< Carries messages: send and recv.
  std::unique_ptr<Transport> transport;  ///< Carries the operations of the group.
  Thread thread = Thread::kOwn;
};

}  // namespace trainyard::collectives
