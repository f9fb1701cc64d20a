// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/make_plugins.h"

#include <fmt/format.h>

#include <string>

#include "core/plugin/loader.h"
#include "messages/error.h"

namespace trainyard {
namespace {

constexpr const char* kAuto = "auto";

/// The context of a plugin that lives inside the component of `context`.
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

/// The rank of an accelerator, which is 0 if it is not available or broken: a broken one must not keep others from
/// being chosen.
int automatic_rank(const PluginSpec& spec, const ComponentContext& context) {
  try {
    const auto one = make<Accelerator>(spec, context, inner_context<Accelerator>(spec, context));
    return one->is_available() ? one->traits().auto_rank : 0;
  } catch (const Error& error) {
    if (context.log) context.log->warn("{}: is not considered: {}", context.where, error.what());
    return 0;
  }
}

/// The available accelerator that ranks highest; among equals, the first by name.
std::string best_accelerator(const ComponentContext& context) {
  std::string best;
  int best_rank = 0;
  for (const core::PluginLoader::Found& found : context.plugins->list()) {
    if (found.label.kind != Accelerator::kKind || !abi_matches(found.label.abi_tag, host_abi_tag())) continue;
    const int rank = automatic_rank({found.label.name, "{}"}, context);
    if (rank <= best_rank) continue;
    best = found.label.name;
    best_rank = rank;
  }
  if (best.empty()) throw Error(Code::kNotFound, "{}: no accelerator is available on this host", context.where);
  return best;
}

}  // namespace

std::unique_ptr<Accelerator> make_accelerator(const PluginSpec& spec, const ComponentContext& context) {
  PluginSpec chosen = spec;
  if (chosen.plugin == kAuto) chosen.plugin = best_accelerator(context);
  auto accelerator = make<Accelerator>(chosen, context, inner_context<Accelerator>(chosen, context));
  if (const FoundDevices found = accelerator->find_devices(); found.count == 0) {
    throw Error(Code::kUnsupported, "{}: it is not available on this host (devices: {}){}{}", accelerator->where(),
                found.count, found.problem.empty() ? "" : "; ", found.problem);
  }
  return accelerator;
}

std::unique_ptr<Strategy> make_strategy(const PluginSpec& spec, const ComponentContext& context,
                                        Accelerator& accelerator, Model& model) {
  PluginSpec chosen = spec;
  if (chosen.plugin == kAuto) chosen.plugin = context.world_size == 1 ? "single_device" : "ddp";
  StrategyContext inner = inner_context<Strategy>(chosen, context);
  inner.accelerator = &accelerator;
  inner.model = &model;
  return make<Strategy>(chosen, context, inner);
}

std::unique_ptr<Model> make_model(const PluginSpec& spec, const ComponentContext& context) {
  return make<Model>(spec, context, inner_context<Model>(spec, context));
}

}  // namespace trainyard
