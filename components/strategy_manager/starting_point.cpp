// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/starting_point.h"

#include <algorithm>
#include <cstdint>

#include "components/strategy_manager/data_facts.h"
#include "messages/error.h"

namespace trainyard::manager {

RunState StartingPoint::checked(const DatasetInfo& data, const RunSettings& settings, const SplitInfo& train,
                                const std::function<void(const std::string&)>& warn) const {
  if (!place_.resumed) return place_;
  compare_data(data, settings, warn);
  RunState start = place_;
  if (start.cursor_batches == 0 || settings.mode != RunMode::kFit) return start;
  if (std::ranges::find(settings.may_differ, Difference::kPosition) == settings.may_differ.end()) {
    throw Error(Code::kInvalidArgument,
                "{} is of format 1, which says only that {} batches of epoch {} had been used, and not how large they "
                "were; if the batch size and the number of ranks are as they were then, resume with may_differ = "
                "[\"position\"] in [run]",
                start.path, start.cursor_batches, start.cursor.epoch);
  }
  start.cursor.samples = start.cursor_batches * std::max<std::uint64_t>(1, train.batch_samples);
  warn(fmt::format("{} is resumed after {} batches of epoch {}, as large as those of this run", start.path,
                   start.cursor_batches, start.cursor.epoch));
  return start;
}

void StartingPoint::compare_data(const DatasetInfo& data, const RunSettings& settings,
                                 const std::function<void(const std::string&)>& warn) const {
  const StateReader saved(states_, kDataState, 0);
  if (saved.empty()) {
    warn(fmt::format("{} does not say on which data it was trained, so nothing is compared", place_.path));
  } else {
    check_same_data(saved, data, settings, [&](const std::string& difference) {
      warn(fmt::format("accepted by may_differ: {}", difference));
    });
  }
}

}  // namespace trainyard::manager
