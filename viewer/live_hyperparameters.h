// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "viewer/book.h"
#include "viewer/errands.h"
#include "visitors/run_observer.h"

namespace trainyard::viewer {

/// Enters the hyperparameters of a running launch into its book. If there is a record of the launch, they are what the
/// user has chosen. Otherwise, an errand asks the launch for all parameters of its components.
void find_hyperparameters(const Identity& identity, const visitors::Observation& observation,
                          const std::shared_ptr<Book>& book, Errands& errands);

}  // namespace trainyard::viewer
