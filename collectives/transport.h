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

/// The progress that one call to Transfer::advance() made.
enum class Progress : std::uint8_t { kNothing, kSome, kFinished };

/// How much work one call to Transfer::advance() does, in transfers in which members can do each other's work.
enum class Effort : std::uint8_t {
  kOwnShare,    ///< Only the calling member's share of the work, because the caller wants to continue computing soon.
  kEverything,  ///< As much work as possible, because the caller waits anyway.
};

/// The data transfer of one operation, at one of the members that take part ("this member"). A transfer keeps a
/// reference to the Operation that was passed to Transport::begin(), so the Operation must outlive the transfer.
class Transfer {
 public:
  virtual ~Transfer() = default;

  /// Makes progress without waiting. `effort` determines how much of the shared work this member does. Returns
  /// kFinished when this member has its result. If the function throws, the group fails. For a collective operation,
  /// advance() is called only after all members have called the same operation.
  virtual Progress advance(Effort effort) = 0;

  /// Returns the members that the transfer waits for. The list is empty if the transfer waits only for the next call to
  /// advance() at this member. Returns nothing if the members are unknown.
  virtual std::optional<std::vector<std::uint32_t>> missing() const { return {}; }
};

/// When the engine (the code that carries out operations, the same for all transports) calls Transport::begin() for a
/// collective operation.
enum class Begins : std::uint8_t {
  kWhenAgreed,  ///< After all members have called the same operation.
  /// As soon as the member itself has announced the operation. The transport then sends data before it is known whether
  /// the other members have called the same operation.
  kAtOnce,
};

/// Returns `bytes` bytes of zeroed memory that only this process can access.
Buffer zeroed(std::size_t bytes);

/// The part of a collective's backend that transfers elements between members. At each member ("this member"), a
/// backend has one transport for collective operations and one for messages (send and recv). All functions are called
/// by one thread, except allocate(), maps_memory() and map(), which are called on the thread that uses the collective.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Begins an operation and returns its transfer. The engine begins a collective operation only when the previous one
  /// is finished, and a message only when the previous message between the same two members in the same direction is
  /// finished. It does not call begin() for a barrier, or for a collective operation without elements.
  virtual std::unique_ptr<Transfer> begin(const Operation& operation) = 0;

  /// Called when the group has failed or this member leaves it. Stops `under_way`, the unfinished transfer of a
  /// collective operation (null if there is none), and returns when the transfer no longer accesses the memory of its
  /// operation, so that the caller may free the memory. The engine calls no other function of this transport
  /// afterwards.
  virtual void abort(Transfer* under_way) { static_cast<void>(under_way); }

  virtual Begins begins() const { return Begins::kWhenAgreed; }

  /// Returns true if nothing wakes a sleeping engine when a transfer can make progress. The engine then polls transfers
  /// in progress.
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
