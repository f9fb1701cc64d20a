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

/// The progress of an operation in one call of Transfer::advance.
enum class Progress : std::uint8_t { kNothing, kSome, kFinished };

/// How much of the shared work a member does.
enum class Effort : std::uint8_t {
  kOwnShare,    ///< Only its own part, because its caller computes between two calls.
  kEverything,  ///< As much as possible, because its caller waits.
};

/// The data transfer of one operation. It refers to the operation, which must outlive it.
class Transfer {
 public:
  virtual ~Transfer() = default;

  /// Makes as much progress as possible without waiting. Returns kFinished when this member has its result. If it
  /// throws, the group fails. For an operation of the group it is called only after all members have agreed.
  virtual Progress advance(Effort effort) = 0;

  /// Returns the members for which the transfer waits: an empty list if this member must act, or nothing if the members
  /// are unknown.
  virtual std::optional<std::vector<std::uint32_t>> missing() const { return {}; }
};

/// When a transport begins an operation of the group.
enum class Begins : std::uint8_t {
  kWhenAgreed,  ///< After all members have called the same operation.
  /// As soon as this member has called it. The transport may then already send, although others may call another
  /// operation.
  kAtOnce,
};

/// Returns zeroed memory of this process.
Buffer zeroed(std::size_t bytes);

/// Transfers elements between members. A backend supplies one transport for the operations of the group and one for
/// messages. It is called by one thread, except that allocate() and map() are called on the caller's thread.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Begins an operation. Operations of the group are begun one after another, and so are messages between the same two
  /// members in one direction. It is not called for barriers and operations without elements, which need no transport.
  virtual std::unique_ptr<Transfer> begin(const Operation& operation) = 0;

  /// Stops `under_way` (null if there is none) after the group has failed. Returns when the transfer no longer accesses
  /// the memory of its operation, so that the memory may be freed. Nothing else is called afterwards.
  virtual void abort(Transfer* under_way) { static_cast<void>(under_way); }

  virtual Begins begins() const { return Begins::kWhenAgreed; }

  /// Returns true if progress is not signalled, so that transfers under way must be polled.
  virtual bool must_be_polled() const { return false; }

  /// Returns zeroed memory that suits the transport best; see Collective::allocate.
  virtual Buffer allocate(std::size_t bytes);

  /// Returns true if map() makes operations faster. The members then exchange the handles of their memory.
  virtual bool maps_memory() const { return false; }
  /// Maps the memory of all members. `handles` contains one handle for each member, all for the same number of bytes.
  virtual void map(const Buffer& own, std::span<const SharedHandle> handles) {
    static_cast<void>(own);
    static_cast<void>(handles);
  }
};

}  // namespace trainyard::collectives
