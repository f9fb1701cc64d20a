// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "collectives/agreement.h"
#include "collectives/transport.h"

namespace trainyard::collectives {

/// The thread on which a collective carries out its operations.
enum class Thread : std::uint8_t {
  /// The thread that calls the functions of the collective. Operations make progress only while such a function runs.
  /// This choice has the lowest latency, because nothing is passed between threads.
  kCaller,
  kOwn,  ///< A separate thread for each collective, so that operations make progress while the caller computes.
};

/// What distinguishes one collective from another: how its ranks agree on operations, detect lost ranks and transfer
/// data. A new backend is already connected to the other members. Its parts are destroyed in the reverse order of their
/// declaration, so a part may refer to the parts above it.
struct Backend {
  std::unique_ptr<Agreement> agreement;
  std::unique_ptr<Attendance> attendance;
  std::unique_ptr<Transport> messages;   ///< Transfers messages (send and recv).
  std::unique_ptr<Transport> transport;  ///< Transfers the data of all other operations.
  Thread thread = Thread::kOwn;
};

}  // namespace trainyard::collectives
