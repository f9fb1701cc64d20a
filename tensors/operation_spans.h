// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace trainyard {

/// Records every operation of LibTorch that the calling thread runs as a span (core/spans/span_scope.h), from the
/// construction of this object to its destruction. Does nothing while nobody records operations. On a device that works
/// asynchronously, the span is the time of the call, not of the work.
///
/// The spans come from the observers on which LibTorch's own profilers are built. These exist in all supported versions
/// and need no library of a vendor.
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
