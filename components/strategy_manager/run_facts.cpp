// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/run_facts.h"

#include <algorithm>
#include <vector>

#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard::manager {

void add_split(RunFacts& facts, const SplitInfo& split) {
  const std::uint64_t evaluated = split.evaluation_batches == 0 ? split.batches : split.evaluation_batches;
  const auto [known, fresh] = facts.batches.try_emplace(split.name, evaluated);
  if (!fresh) known->second = std::min(known->second, evaluated);
  if (split.name == kTrainSplit && (fresh || split.batches < facts.train.batches)) facts.train = split;
}

std::uint64_t batches_of(const RunFacts& facts, const std::string& split, std::int64_t limit) {
  const auto found = facts.batches.find(split);
  if (found == facts.batches.end()) {
    std::vector<std::string> known;
    for (const auto& [name, batches] : facts.batches) known.push_back(name);
    throw Error(Code::kNotFound, "the dataset has no split '{}'{}", split, suggestion(split, known));
  }
  return limit < 0 ? found->second : std::min(found->second, static_cast<std::uint64_t>(limit));
}

}  // namespace trainyard::manager
