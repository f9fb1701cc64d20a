// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/collective.h"

namespace example {

/// A collective, that is, a way in which ranks exchange data: every rank sends all its elements to every other rank.
/// This is simple, but slow for many ranks. All ranks must be on one host.
///
/// This class only connects the ranks. The class in the .cpp file carries out the operations.
class MyCollective final : public trainyard::Collective {
 public:
  explicit MyCollective(trainyard::CollectiveContext& context) : Collective(context) {}

 private:
  trainyard::collectives::Backend open() override;
};

}  // namespace example
