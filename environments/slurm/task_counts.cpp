// SPDX-License-Identifier: Apache-2.0
#include "environments/slurm/task_counts.h"

#include <algorithm>
#include <optional>

#include "environments/allocation.h"
#include "environments/variable_reader.h"
#include "messages/error.h"

namespace trainyard::slurm {
namespace {

constexpr std::uint32_t kMostTasks = 1'000'000;

/// Appends the counts for one item of the list, such as "2(x3)", which stands for 2, 2 and 2. Returns false if the item
/// has another form.
bool append(std::vector<std::uint32_t>& counts, std::string_view item) {
  std::string_view repeated = "1";
  if (const std::size_t open = item.find("(x"); open != item.npos) {
    if (!item.ends_with(')')) return false;
    repeated = item.substr(open + 2, item.size() - open - 3);
    item = item.substr(0, open);
  }
  const auto count = environments::parse_number(item, 1, kMostTasks);
  const auto hosts = environments::parse_number(repeated, 1, environments::kMostHosts);
  if (!count || !hosts || counts.size() + *hosts > environments::kMostHosts) return false;
  counts.insert(counts.end(), *hosts, *count);
  return true;
}

}  // namespace

std::vector<std::uint32_t> expand_task_counts(std::string_view text, const std::string& where) {
  std::vector<std::uint32_t> counts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (!append(counts, text.substr(begin, end - begin))) {
      throw Error(Code::kInvalidArgument,
                  "{}: SLURM_STEP_TASKS_PER_NODE is {}; allowed: counts such as 2(x3),1, for at most {} hosts", where,
                  environments::shown(text), environments::kMostHosts);
    }
    begin = end + 1;
  }
  return counts;
}

}  // namespace trainyard::slurm
