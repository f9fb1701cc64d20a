// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "viewer/book.h"
#include "viewer/errands.h"
#include "visitors/run_observer.h"

namespace trainyard::viewer {

/// Enters the hyperparameters of a running launch into its book (everything that the viewer knows about the run). They
/// come from the launch record, which contains the values that the user has set. If there is no launch record, this
/// function posts an errand (errands.h) that requests all parameters from the components of the run.
void find_hyperparameters(const Identity& identity, const visitors::Observation& observation,
                          const std::shared_ptr<Book>& book, Errands& errands);

}  // namespace trainyard::viewer
