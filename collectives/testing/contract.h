// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "collectives/collective.h"

namespace trainyard::testing {

/// A test of one requirement that every collective must meet, for any number of ranks. Every rank of `group` calls
/// `run`, which throws if a result is wrong. `notes` is the rendezvous through which the ranks connected.
struct ContractCheck {
  const char* name;
  void (*run)(Collective& group, core::Rendezvous& notes);
};

/// Returns all checks. One group can run them one after another, in this order.
std::span<const ContractCheck> contract_checks();

}  // namespace trainyard::testing
