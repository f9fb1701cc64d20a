// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/make_plugins.h"

#include <fmt/format.h>

#include <string>

#include "core/plugin/loader.h"
#include "messages/error.h"

namespace trainyard {
namespace {

/// Returns the context of a plugin that belongs to the component with the context `context`.
template <class Kind>
typename Kind::Context inner_context(const PluginSpec& spec, const ComponentContext& context) {
  typename Kind::Context inner;
  static_cast<PluginContext&>(inner) = context;
  inner.where = fmt::format("{} '{}' of {}", Kind::kKind, spec.plugin, context.where);
  inner.parameters = spec.parameters;
  return inner;
}

template <class Kind>
std::unique_ptr<Kind> make(const PluginSpec& spec, const ComponentContext& context, typename Kind::Context inner) {
  std::unique_ptr<Kind> made = context.plugins->create<Kind>(spec.plugin, inner);
  made->check_all_given_are_known();
  return made;
}

}  // namespace

std::unique_ptr<Accelerator> make_accelerator(const PluginSpec& spec, const ComponentContext& context) {
  auto accelerator = make<Accelerator>(spec, context, inner_context<Accelerator>(spec, context));
  if (const FoundDevices found = accelerator->find_devices(); found.count == 0) {
    throw Error(Code::kUnsupported, "{}: it is not available on this host (devices: {}){}{}", accelerator->where(),
                found.count, found.problem.empty() ? "" : "; ", found.problem);
  }
  return accelerator;
}

std::unique_ptr<Strategy> make_strategy(const PluginSpec& spec, const ComponentContext& context,
                                        Accelerator& accelerator, Model& model) {
  StrategyContext inner = inner_context<Strategy>(spec, context);
  inner.accelerator = &accelerator;
  inner.model = &model;
  return make<Strategy>(spec, context, inner);
}

std::unique_ptr<Model> make_model(const PluginSpec& spec, const ComponentContext& context) {
  return make<Model>(spec, context, inner_context<Model>(spec, context));
}

}  // namespace trainyard
