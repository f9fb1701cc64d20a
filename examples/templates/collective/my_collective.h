// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/collective.h"

namespace example {

/// Every rank sends all its elements to every other rank of the host. This is simple, but slow for many ranks.
///
/// The class only connects the ranks. The operations are in the .cpp file.
class MyCollective final : public trainyard::Collective {
 public:
  explicit MyCollective(trainyard::CollectiveContext& context) : Collective(context) {}

 private:
  trainyard::collectives::Backend open() override;
};

}  // namespace example
