// The part of Process that answers questions while it runs.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/component/boundary.h"
#include "core/config/nearest.h"
#include "core/process/process.h"
#include "messages/error.h"

namespace trainyard::core {

using nlohmann::json;

// A question comes in on the control loop, is answered on the component's loop, and its answer goes out on the control
// loop again. So a handler never sees a parameter change in its middle.
namespace {

/// What `param.list`, `param.get` and `param.set` answer.
json describe(const ParameterBase& parameter) {
  const ParameterInfo& info = parameter.info();
  return {{"name", info.name},          {"value", parameter.value()},
          {"kind", name_of(info.kind)}, {"allowed", describe_allowed(info)},
          {"unit", info.rules.unit},    {"settable", info.rules.settable},
          {"help", info.help}};
}

json list_parameters(const Component& component) {
  json all = json::array();
  for (const ParameterBase* parameter : component.parameters()) all.push_back(describe(*parameter));
  return all;
}

/// The answer of a declared service; the built-in methods are listed with them when the name is unknown.
std::string service_or_throw(Component& component, const Request& request) {
  std::vector<std::string> known{"param.list", "param.get", "param.set"};
  for (ServiceBase* service : component.services()) {
    if (service->name() == request.method) return service->call(request.body.empty() ? "{}" : request.body);
    known.push_back(service->name());
  }
  throw Error(Code::kNotFound, "{} has no service '{}'{}", component.where(), request.method,
              suggestion(request.method, known));
}

/// Runs on the component's own loop.
std::string perform(Component& component, const Request& request) {
  if (request.method == "param.list") return list_parameters(component).dump();
  if (request.method != "param.get" && request.method != "param.set") return service_or_throw(component, request);
  const json body = json::parse(request.body);
  const auto name = body.at("name").get<std::string>();
  if (request.method == "param.set") component.set_parameter(name, body.at("value"));
  const ParameterBase* parameter = component.find_parameter(name);
  if (parameter != nullptr) return describe(*parameter).dump();
  std::vector<std::string> known;
  for (const ParameterBase* each : component.parameters()) known.push_back(each->info().name);
  throw Error(Code::kNotFound, "{} has no parameter '{}'{}", component.where(), name, suggestion(name, known));
}

/// Read from the control thread while the edge's own thread counts on: each number is right, their sum may not be.
json describe(const Edge& edge, const std::string& topic) {
  const EdgeCounters& counters = edge.counters();
  return {{"topic", topic},
          {"edge", edge.id()},
          {"sent", counters.sent.load()},
          {"bytes", counters.bytes.load()},
          {"dropped", counters.dropped.load()},
          {"blocked", counters.blocked.load()}};
}

}  // namespace

void Process::on_request(const Request& request) {
  if (request.target.empty()) {
    // The only thing that is asked of a process as such.
    const bool known = request.method == "counters";
    link_.send(Reply{request.id, known, known ? counters_json() : "a process answers only to 'counters'"});
    return;
  }
  Component* component = find_component(request.target);
  if (component == nullptr) {
    link_.send(Reply{request.id, false, "no component '" + request.target + "' in process '" + name_ + "'"});
    return;
  }
  // A handler may run for long; the control loop goes on, and the launcher has a deadline for the answer.
  component->loop().post([this, component, request] { answer(*component, request); });
}

void Process::answer(Component& component, const Request& request) {
  // What goes wrong in a call is the caller's error: the component is not failed by it.
  Reply reply{.id = request.id};
  try {
    reply.body = perform(component, request);
  } catch (...) {
    reply.ok = false;
    reply.body = describe_current_exception();
  }
  loop_.post([this, reply] { link_.send(reply); });
}

std::string Process::counters_json() const {
  // Edges know their number, and people topics.
  std::map<std::uint32_t, std::string> topics;
  for (const EdgePlan& plan : plan_.edges) topics[plan.id] = plan.topic;
  json edges = json::array();
  // Only lists that do not change once the workers run; the counters themselves are atomic.
  for (const auto& [thread, worker] : workers_) {
    for (const auto& edge : worker->edges) edges.push_back(describe(*edge, topics[edge->id()]));
    if (worker->outlet == nullptr) continue;
    for (const auto& edge : worker->outlet->edges()) edges.push_back(describe(*edge, topics[edge->id()]));
  }
  json visitors = json::array();
  // Somebody may ask before the plan has come, or after it could not be carried out.
  if (gateway_ != nullptr) {
    for (const auto& each : gateway_->counters()) {
      visitors.push_back({{"topic", each.topic}, {"sent", each.sent}, {"dropped", each.dropped}});
    }
  }
  const std::uint64_t shared_bytes = pool_ == nullptr ? 0 : pool_->reserved_bytes();
  return json{{"edges", edges}, {"visitors", visitors}, {"shared_bytes", shared_bytes}}.dump();
}

}  // namespace trainyard::core
