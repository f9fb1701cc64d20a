// SPDX-License-Identifier: Apache-2.0
#include "models/stage.h"

#include <algorithm>
#include <iterator>

namespace trainyard {

std::vector<NamedTensor> with_prefix(const std::vector<NamedTensor>& all, std::string_view prefix) {
  std::vector<NamedTensor> some;
  std::ranges::copy_if(all, std::back_inserter(some),
                       [prefix](const NamedTensor& named) { return named.name.starts_with(prefix); });
  return some;
}

}  // namespace trainyard
