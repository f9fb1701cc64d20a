// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "accelerators/accelerator.h"
#include "core/component/context.h"
#include "core/config/plugin_spec.h"
#include "models/model.h"
#include "strategies/strategy.h"

namespace trainyard {

// These functions create the plugins of an accelerator host and check their parameters. All throw kNotFound for an
// unknown name. The name "auto" is unknown, too, because the planner has already replaced it (launch/plan/automatic.h).

/// Makes the accelerator. Throws kUnsupported if its hardware or its library is not available on this machine.
std::unique_ptr<Accelerator> make_accelerator(const PluginSpec& spec, const ComponentContext& context);

std::unique_ptr<Strategy> make_strategy(const PluginSpec& spec, const ComponentContext& context,
                                        Accelerator& accelerator, Model& model);

std::unique_ptr<Model> make_model(const PluginSpec& spec, const ComponentContext& context);

}  // namespace trainyard
