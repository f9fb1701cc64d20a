// SPDX-License-Identifier: Apache-2.0
#include "viewer/graph.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace trainyard::viewer {
namespace {

using nlohmann::json;

/// Entries come from the launcher of the same user; a wrong type is treated like a missing field.
template <class T>
T field(const json& object, const char* key, T otherwise) {
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  try {
    return found->get<T>();
  } catch (const json::exception&) {
    return otherwise;
  }
}

/// The policy of each edge, by topic and receiver.
std::map<std::string, std::string> policies_of(const json& topics) {
  std::map<std::string, std::string> policies;
  for (const json& topic : topics) {
    for (const json& reader : topic.value("subscribers", json::array())) {
      policies[field<std::string>(topic, "topic", "") + " " + field<std::string>(reader, "component", "")] =
          field<std::string>(reader, "policy", "");
    }
  }
  return policies;
}

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

}  // namespace

ProcessMeter::Usage ProcessMeter::measure(pid_t pid, std::int64_t now_ns) {
  Usage usage;
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t bracket = text.rfind(')');
  if (pid <= 0 || bracket == std::string::npos) return usage;
  std::istringstream fields(text.substr(bracket + 1));
  std::string skipped;
  std::uint64_t user = 0, system = 0;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  fields >> user >> system;
  const Before now{user + system, now_ns};
  const auto before = before_.find(pid);
  if (before != before_.end() && now_ns > before->second.time_ns && now.ticks >= before->second.ticks) {
    const double seconds = static_cast<double>(now_ns - before->second.time_ns) / 1e9;
    const double ticks = static_cast<double>(now.ticks - before->second.ticks);
    usage.cpu_percent = 100 * ticks / static_cast<double>(::sysconf(_SC_CLK_TCK)) / seconds;
  }
  before_[pid] = now;
  std::uint64_t total = 0, resident = 0;
  if (std::ifstream(fmt::format("/proc/{}/statm", pid)) >> total >> resident) {
    usage.memory_bytes = resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  }
  return usage;
}

json GraphMaker::component(const json& node, const ProcessMeter::Usage& usage, bool alone) {
  const auto name = field<std::string>(node, "component", "");
  const auto rank = field<std::int64_t>(node, "rank", -1);
  const auto pid = field<pid_t>(node, "pid", 0);
  Seen& seen = components_[name];
  if (seen.pid != 0 && pid != 0 && seen.pid != pid) ++seen.restarts;
  if (pid != 0) seen.pid = pid;
  // Components of one process share its memory, and the kernel counts only threads and processes.
  return {{"name", name},
          {"plugin", field<std::string>(node, "plugin", "")},
          {"process", field<std::string>(node, "process", "")},
          {"pid", pid},
          {"host", ""},
          {"rank", rank < 0 ? json() : json(rank)},
          {"state", field<std::string>(node, "state", "")},
          {"restarts", seen.restarts},
          {"cpu_percent", alone ? or_null(usage.cpu_percent) : json()},
          {"memory_bytes", alone ? or_null(usage.memory_bytes) : json()},
          {"busy", nullptr},
          {"waiting", nullptr}};
}

json GraphMaker::edge(const json& counters, std::int64_t now_ns) {
  const auto number = field<std::uint64_t>(counters, "edge", 0);
  const Before now{field<double>(counters, "sent", 0), field<double>(counters, "bytes", 0), now_ns};
  const std::string key = fmt::format("{} {}", number, field<std::string>(counters, "topic", ""));
  json rate, bytes;
  const auto before = edges_.find(key);
  if (before != edges_.end() && now_ns > before->second.time_ns && now.sent >= before->second.sent) {
    const double seconds = static_cast<double>(now_ns - before->second.time_ns) / 1e9;
    rate = (now.sent - before->second.sent) / seconds;
    bytes = (now.bytes - before->second.bytes) / seconds;
  }
  edges_[key] = now;
  return {{"number", number},
          {"from", field<std::string>(counters, "from", "")},
          {"to", field<std::string>(counters, "to", "")},
          {"topic", field<std::string>(counters, "topic", "")},
          {"rate_hz", rate},
          {"bytes_per_s", bytes},
          {"queued", nullptr},
          {"window", nullptr},
          {"dropped", field<std::uint64_t>(counters, "dropped", 0)},
          {"blocked", field<std::uint64_t>(counters, "blocked", 0)}};
}

json GraphMaker::make(const json& nodes, const json& counters, const json& topics, std::int64_t now_ns) {
  std::map<std::string, pid_t> processes;
  std::map<std::string, int> members;
  for (const json& node : nodes) {
    const auto process = field<std::string>(node, "process", "");
    processes[process] = field<pid_t>(node, "pid", 0);
    ++members[process];
  }
  std::map<std::string, ProcessMeter::Usage> usage;
  json process_list = json::array();
  for (const auto& [name, pid] : processes) {
    usage[name] = meter_.measure(pid, now_ns);
    process_list.push_back({{"name", name},
                            {"pid", pid},
                            {"cpu_percent", or_null(usage[name].cpu_percent)},
                            {"memory_bytes", or_null(usage[name].memory_bytes)}});
  }
  json components = json::array(), edges = json::array();
  for (const json& node : nodes) {
    const auto process = field<std::string>(node, "process", "");
    components.push_back(component(node, usage[process], members[process] == 1));
  }
  const auto policies = policies_of(topics);
  for (const auto& [process, answer] : counters.items()) {
    if (!answer.is_object()) continue;
    for (const json& one : answer.value("edges", json::array())) {
      json made = edge(one, now_ns);
      const auto policy = policies.find(made["topic"].get<std::string>() + " " + made["to"].get<std::string>());
      made["policy"] = policy == policies.end() ? json() : json(policy->second);
      edges.push_back(std::move(made));
    }
  }
  return {{"time_ns", now_ns},
          {"components", std::move(components)},
          {"processes", std::move(process_list)},
          {"edges", std::move(edges)},
          {"bottleneck", nullptr}};
}

}  // namespace trainyard::viewer
