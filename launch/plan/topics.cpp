// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/topics.h"

#include <algorithm>

#include "launch/plan/schema_difference.h"
#include "messages/limits.h"
#include "messages/nearest.h"

namespace trainyard::launch {

// In its fourth step, the planner determines the full name of the topic of every port. Two ports are connected only if
// their topics have the same full name. Remaps, namespaces and ranks change these names.

namespace {

constexpr const char* kFirstRank = "rank0";

bool is_topic_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

/// Returns the full topic, such as "/rank0/eval/metrics", with the rank before the namespace.
std::string full_topic(const Draft& draft, const core::PortInfo& port) {
  const auto remap = draft.spec->remap.find(port.name);
  const std::string& declared = port.topic.empty() ? port.name : port.topic;
  const std::string& given = remap == draft.spec->remap.end() ? declared : remap->second.text;
  if (given.starts_with('/')) return given;
  std::string topic = "/";
  // The rank and the namespace are put before a relative topic. A topic that starts with '/' has already been returned.
  for (const std::string& outer : {draft.rank_name, draft.spec->name_space}) {
    if (!outer.empty()) topic += outer + "/";
  }
  return topic + given;
}

/// Throws for an invalid topic. Topics appear in errors and commands, so they must not contain spaces or characters
/// that a shell would interpret.
void check_topic(const PortRef& ref) {
  const std::string& topic = ref.topic();
  const std::string key = ref.draft->spec->key + ".remap." + ref.port->name;
  if (topic.size() > kMaxTopicBytes) {
    throw error_at(
        ref.origin(), key,
        fmt::format("the topic \"{}...\" has {} bytes; at most {}", topic.substr(0, 40), topic.size(), kMaxTopicBytes));
  }
  if (is_topic(topic)) return;
  throw error_at(ref.origin(), key,
                 fmt::format("\"{}\" is not a topic; letters, digits, '_', '-', '.' with single '/' between", topic));
}

// Throws if the file names a port that does not exist. The table `inputs` can contain only inputs, and `remap` can
// contain inputs and outputs.
void check_port_names(const Draft& draft) {
  std::vector<std::string> inputs, ports;
  for (const core::PortInfo& port : draft.info->inputs) inputs.push_back(port.name);
  ports = inputs;
  for (const core::PortInfo& port : draft.info->outputs) ports.push_back(port.name);
  const auto check = [&draft](const std::vector<std::string>& known, const std::string& name, const Origin& origin,
                              const char* table, const char* what) {
    if (std::ranges::find(known, name) != known.end()) return;
    throw error_at(origin, fmt::format("{}.{}.{}", draft.spec->key, table, name),
                   fmt::format("'{}' has no {} '{}'{}", draft.info->label.name, what, name, suggestion(name, known)));
  };
  for (const auto& [name, topic] : draft.spec->remap) check(ports, name, topic.origin, "remap", "port");
  for (const auto& [name, input] : draft.spec->inputs) check(inputs, name, input.origin, "inputs", "input");
}

/// Returns the topic to which an input without a sender is connected instead. For a component that exists once, "/x"
/// becomes "/rank0/x"; for a component that exists for each rank, "/rank1/x" becomes "/x". Returns an empty text if
/// there is no such topic.
std::string across_border(const Draft& draft, const std::string& topic) {
  if (draft.plan.world_size == 1) return "";
  const std::string own = "/" + draft.rank_name + "/";
  if (draft.rank_name.empty()) return fmt::format("/{}{}", kFirstRank, topic);
  return topic.starts_with(own) ? topic.substr(own.size() - 1) : "";
}

}  // namespace

bool is_topic(const std::string& topic) {
  if (topic.empty() || topic.front() != '/' || topic.back() == '/') return false;
  if (topic.find("//") != std::string::npos) return false;
  return std::ranges::all_of(topic, [](char c) { return c == '/' || is_topic_character(c); });
}

const Origin& PortRef::origin() const {
  const auto remap = draft->spec->remap.find(port->name);
  return remap == draft->spec->remap.end() ? draft->spec->origin : remap->second.origin;
}

void name_topics(std::vector<Draft>& drafts) {
  for (Draft& draft : drafts) {
    check_port_names(draft);
    for (const auto* ports : {&draft.info->inputs, &draft.info->outputs}) {
      for (const core::PortInfo& port : *ports) {
        draft.plan.topics[port.name] = full_topic(draft, port);
        check_topic({&draft, &port});
      }
    }
  }
}

Senders find_senders(const std::vector<Draft>& drafts) {
  Senders senders;
  for (const Draft& draft : drafts) {
    for (const core::PortInfo& port : draft.info->outputs) {
      const PortRef ref{&draft, &port};
      std::vector<PortRef>& all = senders[ref.topic()];
      all.push_back(ref);
      // It is enough to compare each type with the first one.
      if (all.front().port->fingerprint == port.fingerprint) continue;
      throw error_at(ref.origin(), draft.spec->key,
                     fmt::format("{} sends {} on {}, but {} sends {} there; a topic has one type{}", ref.text(),
                                 port.type, ref.topic(), all.front().text(), all.front().port->type,
                                 schema_difference(port.schema, all.front().port->schema)),
                     Code::kTypeMismatch);
    }
  }
  return senders;
}

// The plan contains only one topic for each port. The topics of the other ranks appear only in the edges.
std::vector<std::string> topics_heard(const PortRef& input) {
  std::vector<std::string> topics{input.topic()};
  const std::string first = fmt::format("/{}/", kFirstRank);
  const bool bridged = input.draft->rank_name.empty() && input.topic().starts_with(first);
  if (!bridged || !input.port->every_rank) return topics;
  for (std::uint32_t rank = 1; rank < input.draft->plan.world_size; ++rank) {
    topics.push_back(fmt::format("/rank{}/{}", rank, input.topic().substr(first.size())));
  }
  return topics;
}

// Changes only inputs to whose own topic no output sends, so a sender of the same rank takes precedence.
void bridge_ranks(std::vector<Draft>& drafts, const Senders& senders) {
  for (Draft& draft : drafts) {
    for (const core::PortInfo& port : draft.info->inputs) {
      std::string& topic = draft.plan.topics.at(port.name);
      const std::string other = across_border(draft, topic);
      if (!other.empty() && !senders.contains(topic) && senders.contains(other)) topic = other;
    }
  }
}

}  // namespace trainyard::launch
