// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "viewer/book.h"
#include "viewer/errands.h"
#include "visitors/run_observer.h"

namespace trainyard::viewer {

/// Enters the hyperparameters of a running launch into its book. The record of the launch has what the user has chosen.
/// A launch without a record is asked for all parameters of its components, which is an errand.
void find_hyperparameters(const Identity& identity, const visitors::Observation& observation,
                          const std::shared_ptr<Book>& book, Errands& errands);

}  // namespace trainyard::viewer
