// SPDX-License-Identifier: Apache-2.0
#include "core/process/request_desk.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/component/boundary.h"
#include "core/config/bounded_json.h"
#include "core/process/process_usage.h"
#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard::core {

using nlohmann::json;

namespace {

/// The requests that every component answers, whatever services it declares.
enum class ParameterQuestion { kList, kGet, kSet };

constexpr std::array<std::pair<const char*, ParameterQuestion>, 3> kParameterQuestions{
    {{"param.list", ParameterQuestion::kList},
     {"param.get", ParameterQuestion::kGet},
     {"param.set", ParameterQuestion::kSet}}};

std::optional<ParameterQuestion> parameter_question(const std::string& method) {
  for (const auto& [word, question] : kParameterQuestions) {
    if (method == word) return question;
  }
  return {};
}

/// Returns the description of a parameter in the answers to `param.list`, `param.get` and `param.set`: its value and
/// its whole declaration, so that a program can check a new value or offer the choices.
json describe(const ParameterBase& parameter) {
  const ParameterInfo& info = parameter.info();
  json all = to_json(info);
  // to_json() writes the kind as a number and the default as JSON text, for the launcher's cache. Users get the name of
  // the kind and the default itself.
  all["kind"] = name_of(info.kind);
  all["default"] = info.default_json.empty() ? json() : json::parse(info.default_json);
  all["allowed"] = describe_allowed(info);
  all["value"] = parameter.value();
  return all;
}

json list_parameters(const Component& component) {
  json all = json::array();
  for (const ParameterBase* parameter : component.parameters()) all.push_back(describe(*parameter));
  return all;
}

/// Passes the request to a declared service. If the name is unknown, the error lists the built-in methods, too.
void serve_or_throw(Component& component, const Request& request, ServiceBase::Reply reply) {
  std::vector<std::string> known;
  for (const auto& [word, question] : kParameterQuestions) known.emplace_back(word);
  for (ServiceBase* service : component.services()) {
    if (service->name() == request.method) {
      return service->serve(request.body.empty() ? "{}" : request.body, std::move(reply));
    }
    known.push_back(service->name());
  }
  throw Error(Code::kNotFound, "{} has no service '{}'{}", component.where(), request.method,
              suggestion(request.method, known));
}

/// Returns the body of a request about one parameter. The body may come from an untrusted sender, so its nesting is
/// limited, and so is the part of it that an error contains.
json read_question(const Component& component, const Request& request, ParameterQuestion question) {
  constexpr std::size_t kShown = 100;
  const bool sets = question == ParameterQuestion::kSet;
  const std::optional<json> body = parse_bounded_json(request.body);
  const bool named = body && body->is_object() && body->contains("name") && body->at("name").is_string();
  if (named && (!sets || body->contains("value"))) return *body;
  // The text is plain ASCII, so that it can be cut anywhere.
  std::string given = (body ? *body : json(request.body.substr(0, kShown)))
                          .dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
  if (given.size() > kShown) given = given.substr(0, kShown) + "...";
  throw Error(Code::kInvalidArgument, "{}: {}: {} is not allowed; {}", component.where(), request.method, given,
              sets ? R"({"name": ..., "value": ...})" : R"({"name": ...})");
}

std::string answer_about_parameter(Component& component, const Request& request, ParameterQuestion question) {
  const json body = read_question(component, request, question);
  const auto name = body.at("name").get<std::string>();
  if (question == ParameterQuestion::kSet) component.set_parameter(name, body.at("value"));
  const ParameterBase* parameter = component.find_parameter(name);
  if (parameter != nullptr) return describe(*parameter).dump();
  std::vector<std::string> known;
  for (const ParameterBase* each : component.parameters()) known.push_back(each->info().name);
  throw Error(Code::kNotFound, "{} has no parameter '{}'{}", component.where(), name, suggestion(name, known));
}

/// Carries out a request on the component's loop.
void perform(Component& component, const Request& request, ServiceBase::Reply reply) {
  const std::optional<ParameterQuestion> question = parameter_question(request.method);
  if (!question) return serve_or_throw(component, request, std::move(reply));
  if (*question == ParameterQuestion::kList) return reply(list_parameters(component).dump());
  reply(answer_about_parameter(component, request, *question));
}

/// Returns the counters of an edge as JSON. The sender's thread may change them while they are read here, so each
/// number is correct, but the numbers may belong to different moments.
json describe(const Edge& edge, const PlanView& view) {
  const EdgeCounters& counters = edge.counters();
  const auto& edges = view.plan().edges;
  const auto planned = std::ranges::find(edges, edge.id(), &EdgePlan::id);
  // An edge contains only its number; the topic and the names come from the plan.
  const EdgePlan plan = planned == edges.end() ? EdgePlan{} : *planned;
  const auto name = [&](std::uint32_t index) { return planned == edges.end() ? "" : view.component(index).name; };
  const auto under_way = edge.under_way();
  return {{"topic", plan.topic},
          {"edge", edge.id()},
          {"from", name(plan.from)},
          {"to", name(plan.to)},
          {"policy", name_of(edge.policy())},
          {"window", plan.window_messages},
          {"under_way", under_way ? json(*under_way) : json()},
          {"sent", counters.sent.load()},
          {"bytes", counters.bytes.load()},
          {"dropped", counters.dropped.load()},
          {"blocked", counters.blocked.load()}};
}

}  // namespace

void RequestDesk::serve(const Request& request) {
  if (request.target.empty()) {
    // The process answers the request "pulse" elsewhere (Process::on_request).
    if (request.method == "counters") return answer_counters(request);
    return reply_({request.id, false, "a process answers only 'counters' and 'pulse'"});
  }
  Component* component = host_ == nullptr ? nullptr : host_->find(request.target);
  if (component == nullptr) {
    return reply_({request.id, false, "no component '" + request.target + "' in process '" + process_ + "'"});
  }
  // The thread was never started, so a posted task would never run.
  if (!host_->running()) {
    return reply_({request.id, false,
                   "component '" + request.target + "' in process '" + process_ +
                       "' does not run, because the plan of the process could not be carried out"});
  }
  component->loop().post([this, component, request] { answer(*component, request); });
}

void RequestDesk::answer(Component& component, const Request& request) {
  // Only the first answer is sent, even if a service answers several times.
  const auto send = [this, id = request.id, replied = std::make_shared<bool>(false)](bool ok, std::string body) {
    if (std::exchange(*replied, true)) return;
    control_.post([this, reply = Reply{id, ok, std::move(body)}] { reply_(reply); });
  };
  // An exception here is the caller's error and does not make the component fail.
  try {
    const BusyScope busy(component.loop().activity(), component);
    perform(component, request, [send](std::string body) { send(true, std::move(body)); });
  } catch (...) {
    send(false, describe_current_exception());
  }
}

void RequestDesk::answer_counters(const Request& request) {
  try {
    const std::optional<double> seconds = read_activity_seconds(request.body);
    if (seconds && activity_) activity_->watch(*seconds);
    reply_({request.id, true, counters()});
  } catch (const Error& error) {
    reply_({request.id, false, error.what()});
  }
}

std::string RequestDesk::counters() const {
  json edges = json::array();
  if (host_ != nullptr) {
    // These lists do not change while the workers run, and the counters are atomic, so this thread may read them.
    for (const auto& [thread, worker] : host_->workers()) {
      for (const auto& edge : worker->edges) edges.push_back(describe(*edge, *plan_));
      if (worker->outlet == nullptr) continue;
      for (const auto& edge : worker->outlet->edges()) edges.push_back(describe(*edge, *plan_));
    }
  }
  json visitors = json::array();
  if (gateway_ != nullptr) {
    for (const auto& each : gateway_->counters()) {
      visitors.push_back({{"topic", each.topic}, {"sent", each.sent}, {"dropped", each.dropped}});
    }
  }
  const std::uint64_t shared_bytes = host_ == nullptr ? 0 : host_->pool().reserved_bytes();
  const ProcessUsage usage = process_usage();
  return json{{"time_ns", std::chrono::steady_clock::now().time_since_epoch().count()},
              {"cpu_ns", usage.cpu_ns},
              {"memory_bytes", usage.memory_bytes},
              {"shared_bytes", shared_bytes},
              {"edges", edges},
              {"visitors", visitors},
              {"activity", activity_ ? activity_->describe() : json()}}
      .dump();
}

}  // namespace trainyard::core
