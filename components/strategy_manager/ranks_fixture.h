// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "components/strategy_manager/fake_host.h"
#include "components/strategy_manager/run_agenda.h"
#include "messages/error.h"

namespace trainyard::manager {

/// For tests of a RunAgenda with several ranks.
class RanksFixture : public ::testing::Test {
 protected:
  /// Returns the facts of a run with 10 training batches per epoch, 3 validation batches, and a checkpoint writer.
  static RunFacts of(std::uint32_t ranks) {
    return {.train = {"train", 10, 10},
            .batches = {{"train", 10}, {"validate", 3}},
            .ranks = ranks,
            .writes_checkpoints = true};
  }
};

}  // namespace trainyard::manager
