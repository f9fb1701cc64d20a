// SPDX-License-Identifier: Apache-2.0
#include "strategies/fsdp/parameter_group.h"

#include <map>
#include <string>

namespace trainyard::fsdp {
namespace {

/// Returns, for every parameter that belongs to a stage, the index of its group. Parameters of several stages belong to
/// the last group.
std::map<std::string, std::size_t> groups_by_name(const std::vector<Stage>& stages) {
  std::map<std::string, std::size_t> groups;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    for (const NamedTensor& named : stages[i].parameters) {
      const auto [place, is_new] = groups.emplace(named.name, i);
      if (!is_new && place->second != i) place->second = stages.size();
    }
  }
  return groups;
}

void append(ParameterGroup& group, std::size_t parameter, std::uint64_t begin, std::uint64_t end) {
  group.members.push_back({parameter, group.bytes});
  const bool goes_on = !group.runs.empty() && group.runs.back().offset + group.runs.back().bytes == begin;
  if (goes_on) {
    group.runs.back().bytes += end - begin;
  } else {
    group.runs.push_back({begin, end - begin, group.bytes});
  }
  group.bytes += end - begin;
}

}  // namespace

std::vector<ParameterGroup> group_parameters(const std::vector<Stage>& stages, const ArenaLayout& layout) {
  const std::map<std::string, std::size_t> groups = groups_by_name(stages);
  std::vector<ParameterGroup> all(stages.size() + 1);
  for (std::size_t i = 0; i < layout.entries.size(); ++i) {
    if (layout.entries[i].block != "parameters") break;
    const bool last = i + 1 == layout.entries.size() || layout.entries[i + 1].block != "parameters";
    const std::uint64_t end = last ? layout.parameter_bytes : layout.entries[i + 1].offset_bytes;
    const auto group = groups.find(layout.entries[i].name);
    append(all[group == groups.end() ? stages.size() : group->second], i, layout.entries[i].offset_bytes, end);
  }
  return all;
}

}  // namespace trainyard::fsdp
