// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/announcements.h"

#include <algorithm>
#include <utility>

#include "components/strategy_manager/data_facts.h"

namespace trainyard::manager {

Announcements::Announcements(const Inputs& inputs, std::uint32_t ranks, std::function<void()> begin)
    : inputs_(inputs),
      facts_{.train = {}, .ranks = ranks},
      complete_(std::move(begin)),
      data_known_(complete_, "data sets", [this] { return std::max<std::size_t>(1, inputs_.dataset.connections()); }),
      hosts_ready_(complete_, "accelerator hosts", [this]() -> std::size_t { return facts_.ranks; }),
      start_known_(complete_, inputs_.run_state) {}

void Announcements::add(const DatasetInfo& info) {
  // Trainyard's data loader gives every rank the same number of batches, but other components may not.
  for (const SplitInfo& split : info.splits) add_split(facts_, split);
  if (datasets_ == 0) {
    data_ = info;
  } else if (!is_same_data(data_, info)) {
    other_data_ = info;
  }
  data_known_.arrived(datasets_++);
}

void Announcements::add(const RunState& place) {
  start_.set_place(place);
  start_known_.arrived();
}

RunState Announcements::checked_start(const RunSettings& settings,
                                      const std::function<void(const std::string&)>& warn) const {
  if (other_data_) check_same_data_on_ranks(data_, *other_data_, settings, warn);
  return start_.checked(data_, settings, facts_.train, warn);
}

// Determines only now whether there is a checkpoint writer, because connections are known only when the component is
// active.
RunFacts Announcements::facts() const {
  RunFacts facts = facts_;
  facts.writes_checkpoints = inputs_.checkpoints.connections() > 0;
  facts.data = data_state(data_);
  return facts;
}

}  // namespace trainyard::manager
