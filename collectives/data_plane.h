#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/collective.h"
#include "collectives/mesh.h"
#include "collectives/request.h"

namespace trainyard {

/// One operation as this member has asked for it.
struct Operation {
  Request request;
  Elements data;
  std::vector<std::uint64_t> bounds;  ///< Of all_gather and reduce_scatter; always given.
  std::uint64_t number = 0;           ///< Among all that this member has asked for.
  std::uint64_t common_number = 0;    ///< Among those of the whole group, or between the two members.

  std::byte* at(std::uint64_t element) const {
    return static_cast<std::byte*>(data.data) + element * size_of(data.dtype);
  }
  /// The bytes of the part of a member.
  std::span<std::byte> part(std::uint32_t member) const {
    return {at(bounds[member]), (bounds[member + 1] - bounds[member]) * size_of(data.dtype)};
  }
};

/// Elements of one operation on their way.
class Transfer {
 public:
  virtual ~Transfer() = default;

  /// Goes on as far as it can without waiting; true when this member has its result. Called only after all members have
  /// asked for the same. What it throws ends the group.
  virtual bool advance() = 0;

  /// The members that it waits for, if it knows.
  virtual std::vector<std::uint32_t> missing() const { return {}; }
};

/// What a backend does: it carries out operations on which the group has agreed, one at a time. All calls but check()
/// and connect() come from one thread.
class DataPlane {
 public:
  virtual ~DataPlane() = default;

  /// Before anybody is waited for: throws kUnsupported, with the reason, if this cannot work in this process.
  virtual void check(const CollectiveContext& context) const { static_cast<void>(context); }

  /// After the mesh stands, on every member. `mesh` outlives this.
  virtual void connect(const CollectiveContext& context, Mesh& mesh) = 0;

  /// Begins an all_reduce, broadcast, all_gather or reduce_scatter. May send already, although others may have asked
  /// for something else.
  virtual std::unique_ptr<Transfer> begin(const Operation& operation) = 0;

  /// The group has failed: returns when the transfer (null if none is under way) no longer touches the memory of its
  /// operation, which its owner may then free. Nothing else will be asked for.
  virtual void abort(Transfer* under_way) { static_cast<void>(under_way); }

  /// True if what is under way must be looked at again and again, since nothing announces its progress.
  virtual bool must_be_polled() const { return false; }
};

}  // namespace trainyard
