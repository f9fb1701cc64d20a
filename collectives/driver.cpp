// SPDX-License-Identifier: Apache-2.0
#include "collectives/driver.h"

#include <algorithm>

#include "collectives/caller_driver.h"
#include "collectives/thread_driver.h"

namespace trainyard::collectives {

void Driver::abort(const std::string& reason) noexcept {
  try {
    fail(engine_->findings().aborted(reason));
  } catch (const std::exception&) {  // The others then only detect that this member has left.
  }
}

void Driver::map(const Buffer& own, std::span<const SharedHandle> handles) {
  const Findings& findings = engine_->findings();
  for (std::uint32_t member = 1; member < handles.size(); ++member) {
    if (handles[member].bytes == handles[0].bytes) continue;
    fail(findings.different_memory(member, handles[member].bytes, handles[0].bytes));
    progress();  // This throws.
  }
  // If the memory of one member cannot be mapped, operations on this memory do not work in place at any member.
  if (std::ranges::any_of(handles, [](const SharedHandle& handle) { return handle.fd < 0; })) return;
  try {
    transport().map(own, handles);
  } catch (const Error& error) {
    fail(findings.cannot_map(error));
    progress();
  }
}

std::unique_ptr<Driver> make_driver(const std::string& where, std::unique_ptr<Engine> engine) {
  if (engine->backend().thread == Thread::kCaller) return std::make_unique<CallerDriver>(where, std::move(engine));
  return std::make_unique<ThreadDriver>(where, std::move(engine));
}

}  // namespace trainyard::collectives
