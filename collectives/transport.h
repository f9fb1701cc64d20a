// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "collectives/operation.h"
#include "messages/buffer.h"

namespace trainyard::collectives {

/// The progress of a transfer in one call of Transfer::advance.
enum class Progress : std::uint8_t { kNothing, kSome, kFinished };

/// How much of the shared work this member does in one call of Transfer::advance.
enum class Effort : std::uint8_t {
  kOwnShare,    ///< Only this member's own part of the work, because its caller wants to go on computing soon.
  kEverything,  ///< As much of the work as possible, because its caller waits.
};

/// The data transfer of one operation. A transfer keeps a reference to the Operation that was passed to
/// Transport::begin(), so the Operation must outlive the transfer.
class Transfer {
 public:
  virtual ~Transfer() = default;

  /// Makes progress without waiting. `effort` determines how much of the shared work this member does. Returns
  /// kFinished when this member has its result. If the function throws, the group fails. For an operation of the group,
  /// advance() is called only after all members have agreed.
  virtual Progress advance(Effort effort) = 0;

  /// Returns the members that the transfer waits for: an empty list if this member must act, or nothing if the members
  /// are unknown.
  virtual std::optional<std::vector<std::uint32_t>> missing() const { return {}; }
};

/// When a transport begins an operation of the group.
enum class Begins : std::uint8_t {
  kWhenAgreed,  ///< After all members have called the same operation.
  /// As soon as this member has announced the operation. In this case the transport may already send although other
  /// members may have called a different operation.
  kAtOnce,
};

/// Returns `bytes` bytes of zeroed memory that only this process can access.
Buffer zeroed(std::size_t bytes);

/// The part of a backend that transfers elements between members. A backend supplies one transport for the operations
/// of the group and one for messages. All functions are called by one thread, except allocate(), maps_memory() and
/// map(), which are called on the thread that uses the collective.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Begins an operation and returns its transfer. An operation of the group begins only when the previous operation of
  /// the group is finished, and a message only when the previous message between the same two members in the same
  /// direction is finished. The engine does not call begin() for a barrier, or for an operation of the group without
  /// elements.
  virtual std::unique_ptr<Transfer> begin(const Operation& operation) = 0;

  /// Stops `under_way`, the unfinished transfer of an operation of the group (null if there is none), because the group
  /// has failed or this member leaves it. Returns when the transfer no longer accesses the memory of its operation, so
  /// that the memory may be freed. The engine calls no other function of this transport afterwards.
  virtual void abort(Transfer* under_way) { static_cast<void>(under_way); }

  virtual Begins begins() const { return Begins::kWhenAgreed; }

  /// Returns true if nothing wakes the engine when a transfer can make progress, so that transfers in progress must be
  /// polled.
  virtual bool must_be_polled() const { return false; }

  /// Returns `bytes` bytes of zeroed memory of the kind that suits the transport best; see Collective::allocate.
  virtual Buffer allocate(std::size_t bytes);

  /// Returns true if map() makes operations faster. If so, Collective::use() exchanges the handles of the members'
  /// memory and then calls map(); otherwise map() is never called.
  virtual bool maps_memory() const { return false; }
  /// Maps the memory that the members passed to Collective::use(). `own` is the memory of this member. `handles`
  /// contains one handle for each member, all for the same number of bytes.
  virtual void map(const Buffer& own, std::span<const SharedHandle> handles) {
    static_cast<void>(own);
    static_cast<void>(handles);
  }
};

}  // namespace trainyard::collectives
