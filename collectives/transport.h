#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "collectives/operation.h"
#include "messages/buffer.h"

namespace trainyard::collectives {

/// How far an operation got in one call.
enum class Progress : std::uint8_t { kNothing, kSome, kFinished };

/// How much a member does of the work that any member could do.
enum class Effort : std::uint8_t {
  kOwnShare,    ///< Its caller computes between two calls, so it does no more than its part.
  kEverything,  ///< Its caller waits.
};

/// The elements of one operation on their way. It refers to the operation for which it was made, which outlives it.
class Transfer {
 public:
  virtual ~Transfer() = default;

  /// Goes on as far as possible without waiting. Returns kFinished when this member has its result. What it throws ends
  /// the group. For an operation of the group it is called only after all members have asked for the same.
  virtual Progress advance(Effort effort) = 0;

  /// The members for which it waits: an empty list if it is this member's turn, nothing if it cannot tell.
  virtual std::optional<std::vector<std::uint32_t>> missing() const { return {}; }
};

/// When a transport wants to begin an operation of the group.
enum class Begins : std::uint8_t {
  kWhenAgreed,  ///< When all members have asked for the same.
  kAtOnce,      ///< When this member has asked: it may send already, although others may ask for something else.
};

/// Zeroed memory of this process.
Buffer zeroed(std::size_t bytes);

/// How elements move. A backend supplies one for the operations of the group and one for messages. One thread calls it,
/// except that allocate() and map() are called on the caller's thread.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Begins an operation. Those of the group come one after the other, and so do messages between the same two members
  /// in one direction. Barriers and operations without elements need no transport and never come here.
  virtual std::unique_ptr<Transfer> begin(const Operation& operation) = 0;

  /// Called when the group has failed. Returns when `under_way` (null if there is none) no longer touches the memory of
  /// its operation, which its owner may then free. Nothing else will be asked for.
  virtual void abort(Transfer* under_way) { static_cast<void>(under_way); }

  virtual Begins begins() const { return Begins::kWhenAgreed; }

  /// True if nothing announces progress, so that what is under way must be looked at again and again.
  virtual bool must_be_polled() const { return false; }

  /// Zeroed memory that suits the transport best; see Collective::allocate.
  virtual Buffer allocate(std::size_t bytes);

  /// True if map() makes operations faster. The members then tell each other the handles of their memory.
  virtual bool maps_memory() const { return false; }
  /// Makes the memory of all members reachable. `handles` holds one handle for each member, all of the same size.
  virtual void map(const Buffer& own, std::span<const SharedHandle> handles) {
    static_cast<void>(own);
    static_cast<void>(handles);
  }
};

}  // namespace trainyard::collectives
