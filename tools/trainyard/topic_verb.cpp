// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "messages/error.h"
#include "messages/json.h"
#include "messages/nearest.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/run_finder.h"
#include "tools/trainyard/table.h"
#include "tools/trainyard/verbs.h"
#include "visitors/registry_client.h"
#include "visitors/watch.h"

namespace trainyard::tools {

// The verbs about topics use two sources: the registry says where a topic is published, and a Watch listens there.
// The launcher does not see the messages.

namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

/// The longest timeout in seconds, which is eleven days. No verb waits forever.
constexpr double kLongestTimeout = 1e6;

/// The arguments that the four verbs have in common.
struct TopicArguments {
  RunChoice run;
  std::string topic;
  std::uint64_t count = 0;
  double timeout_s = 30;
  bool as_json = false;
};

/// Returns the names of components. The log is published by processes, not by components; in that case the processes
/// are named.
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
  // The JSON is the whole answer.
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

/// Returns the registry's description of a topic, whose leading slash may be missing.
json find_topic(visitors::RegistryClient& registry, const std::string& name) {
  std::vector<std::string> known;
  for (const json& topic : registry.ask("topics")) {
    known.push_back(topic.value("topic", ""));
    if (known.back() == name || known.back() == "/" + name) return topic;
  }
  throw Error(Code::kNotFound, "no topic '{}'{}", name, suggestion(name, known));
}

/// Prints the counters of one topic in one process, edge by edge, including dropped messages.
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

/// The schema is printed as it is sent, so that a client can be written from it.
int info(const TopicArguments& arguments) {
  zmq::context_t context;
  visitors::RegistryClient registry(context, find_run(arguments.run).registry);
  const json topic = find_topic(registry, arguments.topic);
  std::printf("topic: %s\ntype: %s\nfingerprint: %s\n", topic.value("topic", "").c_str(),
              topic.value("type", "").c_str(), topic.value("fingerprint", "").c_str());
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

/// The output is flushed at once, so that the reader of a pipe sees each message when it arrives.
void print(const visitors::Received& message, bool one_line) {
  const std::string text = json_from_binary(message.stream->schema, message.bytes(), one_line ? -1 : 2);
  std::printf("%s%s\n", text.c_str(), one_line ? "" : "\n---");
  std::fflush(stdout);
}

std::chrono::milliseconds timeout_of(const TopicArguments& arguments) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(arguments.timeout_s * 1000));
}

/// The timeout is for the next message, not for all.
int echo(const TopicArguments& arguments) {
  zmq::context_t context;
  visitors::Watch watch(context, find_run(arguments.run), {arguments.topic});
  for (std::uint64_t seen = 0; arguments.count == 0 || seen < arguments.count; ++seen) {
    const auto message = watch.next(timeout_of(arguments));
    if (message) {
      print(*message, arguments.as_json);
    } else if (watch.ended()) {
      std::fprintf(stderr, "trainyard: the run has ended\n");
      // If a number of messages was requested, some are missing; otherwise all messages have been received.
      return arguments.count == 0 ? kExitOk : kExitNotFound;
    } else {
      throw Error(Code::kTimeout, "no message on '{}' for {} s", arguments.topic, arguments.timeout_s);
    }
  }
  return kExitOk;
}

/// The rate is computed from the times of arrival here. Messages that were dropped on the way are not counted, so it is
/// a lower bound.
int hz(const TopicArguments& arguments) {
  zmq::context_t context;
  visitors::Watch watch(context, find_run(arguments.run), {arguments.topic});
  const auto until = Clock::now() + timeout_of(arguments);
  std::uint64_t seen = 0;
  Clock::time_point first, last;
  while (arguments.count == 0 || seen < arguments.count) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0 || !watch.next(left)) break;
    last = Clock::now();
    if (seen++ == 0) first = last;
  }
  // A rate needs at least one interval between messages.
  if (seen < 2) {
    throw Error(Code::kTimeout, "{} message(s) on '{}' within {} s; a rate needs two", seen, arguments.topic,
                arguments.timeout_s);
  }
  const double seconds = std::chrono::duration<double>(last - first).count();
  std::printf("%.3f Hz (%llu messages in %.3f s)\n", static_cast<double>(seen - 1) / seconds,
              static_cast<unsigned long long>(seen), seconds);
  return kExitOk;
}

}  // namespace

void add_topic(CLI::App& app, Action& chosen) {
  CLI::App* family = app.add_subcommand("topic", "Streams of a running launch")->require_subcommand(1);
  family->footer(
      "Examples:\n  trainyard topic list\n  trainyard topic echo /metrics --count 3 --json\n"
      "  trainyard topic hz /metrics --timeout 5");
  const auto arguments = std::make_shared<TopicArguments>();
  const auto add = [&](const char* name, const char* help, int (*action)(const TopicArguments&), bool takes_topic) {
    CLI::App* verb = family->add_subcommand(name, help);
    if (takes_topic) verb->add_option("TOPIC", arguments->topic, "as `trainyard topic list` names it")->required();
    arguments->run.add_to(*verb);
    verb->callback([=, &chosen] { chosen = [=] { return action(*arguments); }; });
    return verb;
  };
  add("list", "All topics, who publishes and who subscribes", list, false)
      ->add_flag("--json", arguments->as_json, "for programs");
  add("info", "Type, schema, ends and counters of one topic", info, true);
  CLI::App* listener = add("echo", "Print messages; never slows the run (the oldest are dropped)", echo, true);
  listener->add_option("--count", arguments->count, "stop after so many (default: never)");
  listener->add_option("--timeout", arguments->timeout_s, "give up after so many seconds without a message (30)")
      ->check(CLI::Range(0.001, kLongestTimeout));
  listener->add_flag("--json", arguments->as_json, "one line of JSON a message");
  CLI::App* meter = add("hz", "Measure how often messages come", hz, true);
  meter->add_option("--count", arguments->count, "stop after so many (default: at the timeout)");
  meter->add_option("--timeout", arguments->timeout_s, "measure for so many seconds (30)")
      ->check(CLI::Range(0.001, kLongestTimeout));
}

}  // namespace trainyard::tools
