#pragma once

#include <span>

#include "collectives/collective.h"

namespace trainyard::testing {

/// One thing that every backend must do, whatever the number of ranks. Every rank of a group calls `run`, which throws
/// if a result is wrong.
struct ContractCheck {
  const char* name;
  void (*run)(Collective& group, core::Rendezvous& notes);
};

/// The checks, in an order in which one group can run them one after the other.
std::span<const ContractCheck> contract_checks();

}  // namespace trainyard::testing
