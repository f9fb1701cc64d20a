// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "collectives/agreement.h"
#include "collectives/transport.h"

namespace trainyard::collectives {

/// The thread that carries out the operations.
enum class Thread : std::uint8_t {
  /// The thread that calls the functions of the collective. Operations make progress only while such a function runs.
  /// This is the fastest choice, because nothing is passed between threads.
  kCaller,
  kOwn,  ///< A separate thread for each group, so that operations make progress while the caller computes.
};

/// The parts that a backend supplies: an agreement, an attendance and two transports. All parts are already connected.
/// They are destroyed in the reverse order of their declaration, so a part may refer to the parts above it.
struct Backend {
  std::unique_ptr<Agreement> agreement;
  std::unique_ptr<Attendance> attendance;
  std::unique_ptr<Transport> messages;   ///< Carries messages: send and recv.
  std::unique_ptr<Transport> transport;  ///< Carries the operations of the group.
  Thread thread = Thread::kOwn;
};

}  // namespace trainyard::collectives
