// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "collectives/collective.h"

namespace trainyard::testing {

/// A check of one requirement that every backend must meet, for any number of ranks. Every rank of a group calls `run`,
/// which throws if a result is wrong. `notes` is the rendezvous of the ranks.
struct ContractCheck {
  const char* name;
  void (*run)(Collective& group, core::Rendezvous& notes);
};

/// Returns the checks, in an order in which one group can run them one after another.
std::span<const ContractCheck> contract_checks();

}  // namespace trainyard::testing
