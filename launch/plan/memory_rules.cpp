// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/memory_rules.h"

#include <map>
#include <set>
#include <string>

namespace trainyard::launch {
namespace {

/// The memory that a process needs without its components: for its program, its stacks and its buffers for messages.
constexpr std::uint64_t kEmptyProcess = 8ull << 20;

std::string gibibytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / static_cast<double>(1ull << 30));
}

/// Returns the memory that the processes on host 0 need. If a process hosts several components of one plugin, the
/// plugin is counted once, because they share its libraries.
std::uint64_t needed_memory(const std::vector<Draft>& drafts) {
  std::map<std::string, std::set<std::string>> plugins;
  std::uint64_t bytes = 0;
  for (const Draft& draft : drafts) {
    if (draft.host != 0) continue;  // Components on other hosts use the memory of other machines.
    std::set<std::string>& present = plugins[draft.plan.process];
    if (present.empty()) bytes += kEmptyProcess;
    if (present.insert(draft.plan.plugin).second) bytes += draft.info->component_traits().memory_bytes;
  }
  return bytes;
}

}  // namespace

void check_memory(const LaunchFile& file, const std::vector<Draft>& drafts, const Machine& machine) {
  const std::uint64_t needed = needed_memory(drafts);
  if (machine.memory_bytes == 0 || needed <= machine.memory_bytes || file.topology.overcommit) return;
  const std::string text = fmt::format(
      "needs at least {} of memory, without model and data, and this machine has {}; fewer ranks or processes need "
      "less, and topology.overcommit = true starts it all the same",
      gibibytes(needed), gibibytes(machine.memory_bytes));
  const auto devices = file.topology.given.find("devices");
  if (devices == file.topology.given.end()) throw Error(Code::kUnsupported, "{}: the run {}", file.path, text);
  throw error_at(devices->second.origin, "topology.devices", to_text(devices->second) + " " + text, Code::kUnsupported);
}

}  // namespace trainyard::launch
