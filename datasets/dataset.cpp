// SPDX-License-Identifier: Apache-2.0
#include "datasets/dataset.h"

#include "core/traits/plugin_traits.h"

namespace trainyard {

core::PluginTraits Dataset::declared_traits() const { return {traits()}; }

}  // namespace trainyard
