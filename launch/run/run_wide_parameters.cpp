// SPDX-License-Identifier: Apache-2.0
#include "launch/run/run_wide_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/config/bounded_json.h"
#include "messages/component_name.h"
#include "messages/error.h"

namespace trainyard::launch {
namespace {

using nlohmann::json;

/// How long a component has to answer a call about its parameters.
constexpr std::chrono::seconds kParameterDeadline{10};
/// How long the ranks have to pause, which takes up to two steps.
constexpr std::chrono::seconds kPauseDeadline{60};

bool has_service(const core::PluginInfo& plugin, const char* name) {
  return std::ranges::any_of(plugin.services, [&](const core::ServiceInfo& service) { return service.name == name; });
}

}  // namespace

/// A change of a parameter, from the request to the answer.
struct RunWideParameters::Change {
  std::vector<const ComponentPlan*> components;
  std::string name;
  std::string body;
  CallTable::Answer answer;

  const ComponentPlan* director = nullptr;
  json before;     ///< The value that the parameter had.
  bool ok = true;  ///< True if the answer will be a success; `text` is its text.
  std::string text;
  std::size_t open = 0;  ///< The number of calls that have not been answered yet.
};

std::vector<const ComponentPlan*> RunWideParameters::named(const std::string& target) const {
  std::vector<const ComponentPlan*> all;
  for (const ComponentPlan& component : run_.plan.components) {
    if (component.name == target || without_rank(component.name, component.rank) == target) all.push_back(&component);
  }
  return all;
}

bool RunWideParameters::is_run_wide(const ComponentPlan& component) const {
  const core::PluginInfo* declared = run_.declaration_of(component);
  return without_rank(component.name, component.rank) != component.name ||
         (declared != nullptr && declared->component_traits().per_rank);
}

void RunWideParameters::check_all_ranks(const std::string& target, const ComponentPlan& component) const {
  const std::string all = without_rank(component.name, component.rank);
  if (all == target) return;
  const std::size_t ranks = named(all).size();
  if (ranks < 2) return;
  throw Error(Code::kInvalidArgument,
              "'{}' is one of {} that must stay alike, so a parameter is set for all ranks at once; set it for '{}'",
              target, ranks, all);
}

/// Returns the component that has the services "pause" and "go_on", whatever its name, or null if there is none.
const ComponentPlan* RunWideParameters::director() const {
  for (const ComponentPlan& component : run_.plan.components) {
    const core::PluginInfo* declared = run_.declaration_of(component);
    if (declared == nullptr || run_.states[component.index] != State::kActive) continue;
    if (has_service(*declared, "pause") && has_service(*declared, "go_on")) return &component;
  }
  return nullptr;
}

void RunWideParameters::set(const ComponentPlan& component, const std::string& body, CallTable::Answer answer) {
  const std::optional<json> question = parse_bounded_json(body);
  if (!question || !question->is_object() || !question->contains("value") || !question->contains("name") ||
      !question->at("name").is_string()) {
    return answer(false, fmt::format("param.set of '{}': {} is not allowed; {{\"name\": ..., \"value\": ...}}",
                                     without_rank(component.name, component.rank), body));
  }
  auto change = std::make_shared<Change>();
  change->components = named(without_rank(component.name, component.rank));
  change->name = question->at("name").get<std::string>();
  change->body = body;
  change->answer = std::move(answer);
  changes_.push_back(change);
  if (changes_.size() == 1) begin(change);
}

/// Asks the first component for the old value, which the record of the change contains. If the parameter does not
/// exist, the change ends here, before the run is paused.
void RunWideParameters::begin(const std::shared_ptr<Change>& change) {
  const ComponentPlan& first = *change->components.front();
  run_.call(first.process, first.name, "param.get", json{{"name", change->name}}.dump(), kParameterDeadline,
            [this, change](bool ok, const std::string& body) {
              const std::optional<json> parameter = parse_bounded_json(body);
              if (ok && parameter && parameter->is_object()) {
                change->before = parameter->value("value", json());
                return pause(change);
              }
              change->ok = false;
              change->text = body;
              finish(change);
            });
}

void RunWideParameters::pause(const std::shared_ptr<Change>& change) {
  change->director = director();
  if (change->director == nullptr) return set_everywhere(change);
  run_.call(change->director->process, change->director->name, "pause", "{}", kPauseDeadline,
            [this, change](bool ok, const std::string& body) {
              if (ok) return set_everywhere(change);
              change->ok = false;
              change->text =
                  fmt::format("'{}' was not changed, because the ranks did not come to rest: {}", change->name, body);
              go_on(change, "{}");
            });
}

void RunWideParameters::set_everywhere(const std::shared_ptr<Change>& change) {
  change->open = change->components.size();
  for (const ComponentPlan* component : change->components) {
    run_.call(component->process, component->name, "param.set", change->body, kParameterDeadline,
              [this, change](bool ok, const std::string& body) {
                // The answer is the first error or, if there is none, the answer of any rank.
                if (change->ok) change->text = body;
                change->ok = change->ok && ok;
                if (--change->open == 0) conclude(change);
              });
  }
}

void RunWideParameters::conclude(const std::shared_ptr<Change>& change) {
  if (!change->ok) return take_back(change);
  const json now = parse_bounded_json(change->text).value_or(json());
  const std::string value = now.is_object() ? now.value("value", json()).dump() : std::string("null");
  const ComponentPlan& first = *change->components.front();
  json settings = json::array();
  settings.push_back({{"component", without_rank(first.name, first.rank)},
                      {"parameter", change->name},
                      {"value", value},
                      {"instead_of", change->before.dump()}});
  go_on(change, json{{"settings", settings}}.dump());
}

/// If a rank has refused the value or has not answered in time, restores the old value on all ranks. A rank that has
/// not answered may still set the new value later. It handles its calls in the order of sending, so it then sets the
/// old value again. On a rank that has refused the new value, the call changes nothing.
void RunWideParameters::take_back(const std::shared_ptr<Change>& change) {
  change->open = change->components.size();
  for (const ComponentPlan* component : change->components) {
    run_.call(component->process, component->name, "param.set",
              json{{"name", change->name}, {"value", change->before}}.dump(), kParameterDeadline,
              [this, change](bool, const std::string&) {
                if (--change->open == 0) go_on(change, "{}");
              });
  }
}

void RunWideParameters::go_on(const std::shared_ptr<Change>& change, const std::string& body) {
  if (change->director == nullptr) return finish(change);
  run_.call(change->director->process, change->director->name, "go_on", body, kParameterDeadline,
            [this, change](bool ok, const std::string& answer) {
              if (change->ok && !ok) {
                change->ok = false;
                change->text = answer;
              }
              finish(change);
            });
}

void RunWideParameters::finish(const std::shared_ptr<Change>& change) {
  change->answer(change->ok, change->text);
  changes_.pop_front();
  if (!changes_.empty()) begin(changes_.front());
}

}  // namespace trainyard::launch
