// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/run_finder.h"
#include "tools/trainyard/table.h"
#include "tools/trainyard/topic_finder.h"
#include "tools/trainyard/topic_verbs.h"
#include "tools/trainyard/verbs.h"
#include "visitors/registry_client.h"

namespace trainyard::tools {

// The subcommands of `trainyard topic` first ask the launcher's registry where a topic is published, and then listen
// there with a visitors::Watch. The messages do not pass through the launcher.

namespace {

using nlohmann::json;

/// The arguments that `list` and `info` have in common.
struct TopicArguments {
  RunChoice run;
  std::string topic;
  bool as_json = false;
};

/// Returns the names of the components that publish or receive a topic. The log is published by processes instead of
/// components; for it, returns the names of the processes.
std::string names(const json& ends) {
  std::vector<std::string> all;
  for (const json& end : ends) {
    const std::string component = end.value("component", "");
    const std::string name = component.empty() ? end.value("process", "") : component;
    if (std::ranges::find(all, name) == all.end()) all.push_back(name);
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

int list(const TopicArguments& arguments) {
  zmq::context_t context;
  const json topics = visitors::RegistryClient(context, find_run(arguments.run).registry).ask("topics");
  // With --json, the whole answer of the registry is printed.
  if (arguments.as_json) {
    std::printf("%s\n", topics.dump(2).c_str());
    return kExitOk;
  }
  Table table({"topic", "type", "publishers", "subscribers"});
  for (const json& topic : topics) {
    table.add({topic.value("topic", ""), topic.value("type", ""), names(topic.value("publishers", json::array())),
               names(topic.value("subscribers", json::array()))});
  }
  std::fputs(table.text(use_colours(), terminal_width()).c_str(), stdout);
  return kExitOk;
}

/// Prints the counters of a topic in one process, including dropped messages, with one line for each edge, that is,
/// each connection to a receiver.
void print_counters(const std::string& process, const json& counters, const std::string& topic) {
  constexpr std::uint64_t kNone = 0;
  for (const json& edge : counters.value("edges", json::array())) {
    if (edge.value("topic", "") != topic) continue;
    fmt::print("edge {}: {} -> {}, process {}, sent {}, dropped {}, waited {}\n", edge.value("edge", 0u),
               edge.value("from", ""), edge.value("to", ""), process, edge.value("sent", kNone),
               edge.value("dropped", kNone), edge.value("blocked", kNone));
  }
  for (const json& visitor : counters.value("visitors", json::array())) {
    if (visitor.value("topic", "") != topic) continue;
    fmt::print("visitor: process {}, sent {}, dropped {}\n", process, visitor.value("sent", kNone),
               visitor.value("dropped", kNone));
  }
}

/// Shows one topic. The schema is printed exactly as clients receive it, so that the author of a client can use it.
int info(const TopicArguments& arguments) {
  zmq::context_t context;
  visitors::RegistryClient registry(context, find_run(arguments.run).registry);
  const json topic = find_topic(registry, arguments.topic);
  std::printf("topic: %s\ntype: %s\nfingerprint: %s\n", topic.value("topic", "").c_str(),
              topic.value("type", "").c_str(), topic.value("fingerprint", "").c_str());
  if (topic.value("latched", false)) std::printf("latched: the last message is kept for visitors that come later\n");
  for (const json& end : topic.value("publishers", json::array())) {
    std::printf("publisher: %s (process %s)\n", end.value("component", "").c_str(), end.value("process", "").c_str());
  }
  for (const json& end : topic.value("subscribers", json::array())) {
    std::printf("subscriber: %s (process %s, %s)\n", end.value("component", "").c_str(),
                end.value("process", "").c_str(), end.value("policy", "").c_str());
  }
  const json processes = registry.call("", "counters");
  for (const auto& [process, counters] : processes.items()) {
    if (!counters.is_object()) continue;
    print_counters(process, counters, topic.value("topic", ""));
  }
  std::printf("schema:\n%s", topic.value("schema", "").c_str());
  return kExitOk;
}

}  // namespace

void add_topic(CLI::App& app, Action& chosen) {
  CLI::App* family = app.add_subcommand("topic", "Topics of a running launch")->require_subcommand(1);
  family->footer(
      "Examples:\n  trainyard topic list\n  trainyard topic echo /metrics --count 3 --json\n"
      "  trainyard topic hz /metrics\n  trainyard topic delay /batches --timeout 5\n"
      "  trainyard topic pub /note '{\"text\": \"new data from here on\"}'");
  const auto arguments = std::make_shared<TopicArguments>();
  const auto add = [&](const char* name, const char* help, int (*action)(const TopicArguments&)) {
    CLI::App* verb = family->add_subcommand(name, help);
    arguments->run.add_to(*verb);
    verb->callback([=, &chosen] { chosen = [=] { return action(*arguments); }; });
    return verb;
  };
  add("list", "All topics, with their publishers and subscribers", list)
      ->add_flag("--json", arguments->as_json, "print JSON, for other programs");
  add("info", "Type, schema, publishers, subscribers, counters of a topic", info)
      ->add_option("TOPIC", arguments->topic, "as `trainyard topic list` names it")
      ->required();
  add_topic_echo(*family, chosen);
  add_topic_meters(*family, chosen);
  add_topic_pub(*family, chosen);
}

}  // namespace trainyard::tools
