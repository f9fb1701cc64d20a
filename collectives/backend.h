#pragma once

#include <memory>

#include "collectives/agreement.h"
#include "collectives/transport.h"

namespace trainyard::collectives {

/// Who carries operations on.
enum class Thread : std::uint8_t {
  kCaller,  ///< Whoever calls the collective, while it calls. Nothing is handed over, so this is fastest.
  kOwn,     ///< A thread of the group's own, so that operations go on while the caller computes.
};

/// What a backend supplies: how the members of a group agree, how they know who is there, and how elements move. All of
/// it is connected. The parts are destroyed in the reverse order, so the later ones may refer to the earlier ones.
struct Backend {
  std::unique_ptr<Agreement> agreement;
  std::unique_ptr<Attendance> attendance;
  std::unique_ptr<Transport> messages;   ///< Of send and recv.
  std::unique_ptr<Transport> transport;  ///< Of the operations of the group.
  Thread thread = Thread::kOwn;
};

}  // namespace trainyard::collectives
