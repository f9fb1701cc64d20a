// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace trainyard {

/// Records a span (a named stretch of time in the timeline of the run) for every LibTorch operation that the current
/// thread runs while this object exists. Does nothing if core::records_operations() returns false when the object is
/// created. On a device that works asynchronously, the span covers the call of the operation, not the work on the
/// device.
///
/// The implementation registers an observer (at::RecordFunction), as LibTorch's own profilers do. This works in all
/// supported versions and requires no library from a hardware vendor.
class OperationSpans {
 public:
  OperationSpans();
  ~OperationSpans();
  OperationSpans(const OperationSpans&) = delete;
  OperationSpans& operator=(const OperationSpans&) = delete;

 private:
  std::optional<std::uint64_t> observer_;
};

}  // namespace trainyard
