// SPDX-License-Identifier: Apache-2.0
#include "launch/run/gateway_address.h"

#include <fmt/format.h>

#include <algorithm>

#include "messages/log_record.h"
#include "messages/message_type.h"

namespace trainyard::launch {

// The name cannot be that of another socket of the directory: those of processes end with the name or the number of a
// thread, and a dot before it.
std::string entrance_address(const std::string& run_directory, std::uint32_t process) {
  return fmt::format("ipc://{}/far.{}", run_directory, process);
}

bool listens_to_log(const RunContext& run, const ComponentPlan& component) {
  const core::PluginInfo* plugin = run.declaration_of(component);
  return plugin != nullptr && std::ranges::any_of(plugin->inputs, [&](const core::PortInfo& port) {
           const auto topic = component.topics.find(port.name);
           return topic != component.topics.end() && topic->second == kLogTopic &&
                  port.fingerprint == message_type<LogRecord>().fingerprint;
         });
}

bool has_entrances(const RunContext& run, std::uint32_t host) {
  return host == 0 || std::ranges::any_of(run.plan.components, [&](const ComponentPlan& component) {
           return component.host == host && listens_to_log(run, component);
         });
}

std::string gateway_address(const RunContext& run, const std::string& process) {
  const StartBarrier::Endpoints endpoints = run.barrier.endpoints_of(process);
  const auto gateway = endpoints.find(process + "/gateway");
  if (gateway == endpoints.end()) return "";
  const ChildProcess* child = run.crew.find(process);
  if (child == nullptr || child->planned().host == 0) return gateway->second;
  return entrance_address(run.places.front().run_directory, child->index());
}

}  // namespace trainyard::launch
