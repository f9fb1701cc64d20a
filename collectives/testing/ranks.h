// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/rendezvous/rendezvous.h"
#include "messages/error.h"

namespace trainyard::testing {

/// How the function of one rank of a test ended.
struct RankEnd {
  bool returned = false;        ///< False if the rank threw an exception or its process died.
  Code code = Code::kInternal;  ///< The code of the Error that the rank threw.
  std::string text;             ///< The text that the rank returned, or the text of the exception that it threw.
};

/// The function that a rank runs. It returns a text for RankEnd. `notes` is the rendezvous of the ranks.
using RankFunction = std::function<std::string(std::uint32_t rank, core::Rendezvous& notes)>;

/// Runs `function` once for each of `count` ranks, in threads of this process. Returns when all threads have ended.
std::vector<RankEnd> run_threads(std::uint32_t count, const RankFunction& function);

/// Runs `function` once for each of `count` ranks, in processes forked from this process, which must have only one
/// thread. `victims` lists the ranks whose processes are killed or stopped during the test. Returns when the processes
/// of all other ranks have ended, or after a minute; the remaining processes are then killed.
std::vector<RankEnd> run_processes(std::uint32_t count, const RankFunction& function,
                                   const std::vector<std::uint32_t>& victims = {});

}  // namespace trainyard::testing
