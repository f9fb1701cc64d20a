#pragma once

#include <memory>

#include "collectives/agreement.h"
#include "collectives/transport.h"

namespace trainyard::collectives {

/// On which thread operations are carried out.
enum class Thread : std::uint8_t {
  /// The thread that calls the collective, while it calls. This is fastest, because nothing is passed between threads.
  kCaller,
  kOwn,  ///< A thread of the group's own, so that operations go on while the caller computes.
};

/// What a backend supplies: how the members of a group agree, how they know who is there, and how elements move. All of
/// it is connected. The parts are destroyed in reverse order, so later ones may refer to earlier ones.
struct Backend {
  std::unique_ptr<Agreement> agreement;
  std::unique_ptr<Attendance> attendance;
  std::unique_ptr<Transport> messages;   ///< For send and recv.
  std::unique_ptr<Transport> transport;  ///< For the operations of the group.
  Thread thread = Thread::kOwn;
};

}  // namespace trainyard::collectives
