// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "launch/plan/catalogue.h"
#include "launch/plan/draft.h"

namespace trainyard::launch {

/// Refuses a model that cannot learn from the dataset that it would be given, as far as both say what their targets are
/// (DatasetTraits, ModelTraits). The data is not opened. The error points to the model:
///
///    a.toml:9: component.accelerator_host.params.model: the model gpt learns a token for each token, but the target of
///    the dataset synthetic (a.toml:5) is a class
///
/// A dataset belongs to a model if the component that reads it sends to the component that holds the model.
void check_data(const std::vector<Draft>& drafts, const std::vector<EdgePlan>& edges, Catalogue& catalogue);

}  // namespace trainyard::launch
