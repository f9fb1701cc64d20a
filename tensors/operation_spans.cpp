// SPDX-License-Identifier: Apache-2.0
#include "tensors/operation_spans.h"

#include <ATen/record_function.h>

#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

#include "core/spans/span_scope.h"

namespace trainyard {
namespace {

/// Returns a copy of the name that lives as long as the process. The names of operations are part of LibTorch, so there
/// are some hundreds of them at most.
const char* lasting(const char* name) {
  constexpr std::size_t kMostNames = 10'000;
  static std::mutex mutex;
  static auto& names = *new std::unordered_set<std::string>;  // Never destroyed: other threads read names at the end.
  const std::lock_guard lock(mutex);
  const auto known = names.find(name);
  if (known != names.end()) return known->c_str();
  return names.size() < kMostNames ? names.emplace(name).first->c_str() : "other operations";
}

struct Began final : at::ObserverContext {
  std::int64_t begin_ns = core::span_clock_ns();
};

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction&) { return std::make_unique<Began>(); }

void end(const at::RecordFunction& function, at::ObserverContext* context) {
  const std::int64_t end_ns = core::span_clock_ns();
  if (!core::records_operations()) return;
  core::add_span({.kind = SpanKind::kOperation,
                  .name = lasting(function.name()),
                  .begin_ns = static_cast<const Began*>(context)->begin_ns,
                  .end_ns = end_ns});
}

}  // namespace

OperationSpans::OperationSpans() {
  if (!core::records_operations()) return;
  observer_ = at::addThreadLocalCallback(
      at::RecordFunctionCallback(begin, end).scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}

OperationSpans::~OperationSpans() {
  if (observer_) at::removeCallback(*observer_);
}

}  // namespace trainyard
