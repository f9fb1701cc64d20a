// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "launch/plan/catalogue.h"
#include "launch/plan/draft.h"

namespace trainyard::launch {

/// Throws if a model cannot learn from the targets of its dataset. A model or dataset that does not declare its targets
/// (ModelTraits, DatasetTraits) is accepted. The data is not opened. The error points to the model:
///
///    a.toml:9: component.accelerator_host.params.model: the model gpt learns a token for each token, but the target of
///    the dataset synthetic (a.toml:5) is a class
///
/// A model is compared with a dataset if an edge (a connection) leads from the component that reads the dataset to the
/// component that holds the model.
void check_data(const std::vector<Draft>& drafts, const std::vector<EdgePlan>& edges, Catalogue& catalogue);

}  // namespace trainyard::launch
