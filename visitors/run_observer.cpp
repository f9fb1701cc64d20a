// SPDX-License-Identifier: Apache-2.0
#include "visitors/run_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "messages/error.h"
#include "visitors/json_fields.h"

namespace trainyard::visitors {
namespace {

using nlohmann::json;

/// How long an answer may take: a little longer than the launcher waits for a process.
constexpr std::chrono::seconds kAnswerDeadline{12};

std::int64_t time_of_answer(const json& answer) {
  return static_cast<std::int64_t>(count_in(answer, "time_ns").value_or(0));
}

const json& list_in(const json& answer, const char* key) {
  static const json none = json::array();
  const auto found = answer.find(key);
  return found != answer.end() && found->is_array() ? *found : none;
}

}  // namespace

Observation RunObserver::observe() {
  ask();
  if (auto observation = answer(kAnswerDeadline)) return *std::move(observation);
  throw Error(Code::kTimeout, "the launcher did not answer within {} s; is it stopped?", kAnswerDeadline.count());
}

// The registry answers the first question immediately, and the second question when every process has answered.
void RunObserver::ask(Accounting accounting) {
  const auto now = std::chrono::steady_clock::now();
  if (counters_question_ && now < asked_ + kAnswerDeadline) return;
  forget_questions();
  asked_ = now;
  json body = json::object();
  if (accounting == Accounting::kOn) body["activity_s"] = kLease.count();
  nodes_question_ = registry_.post({{"op", "nodes"}});
  counters_question_ = registry_.post({{"op", "call"}, {"method", "counters"}, {"body", std::move(body)}});
}

void RunObserver::forget_questions() {
  nodes_question_.reset();
  counters_question_.reset();
}

std::optional<Observation> RunObserver::answer(std::chrono::milliseconds deadline) {
  try {
    return read_answers(deadline);
  } catch (...) {
    forget_questions();
    throw;
  }
}

std::optional<Observation> RunObserver::read_answers(std::chrono::milliseconds deadline) {
  if (nodes_question_) {
    auto nodes = registry_.answer(*nodes_question_, deadline);
    if (!nodes) return {};
    nodes_ = *std::move(nodes);
    nodes_question_.reset();
  }
  if (!counters_question_) return {};
  const auto answers = registry_.answer(*counters_question_, deadline);
  if (!answers) return {};
  counters_question_.reset();
  Observation observation;
  read_nodes(nodes_, observation);
  if (!answers->is_object()) return observation;
  read_shares(*answers, observation);
  read_processes(*answers, observation);
  find_bottleneck(observation);
  return observation;
}

void RunObserver::read_nodes(const json& nodes, Observation& observation) {
  if (!nodes.is_array()) return;
  for (const json& node : nodes) {
    if (!node.is_object()) continue;
    ObservedNode read{.name = text_in(node, "component"),
                      .plugin = text_in(node, "plugin"),
                      .process = text_in(node, "process"),
                      .state = text_in(node, "state"),
                      .pid = static_cast<int>(count_in(node, "pid").value_or(0)),
                      .rank = count_in(node, "rank"),
                      .restarts = count_in(node, "restarts").value_or(0),
                      .shares = {}};
    threads_[read.name] = read.process + "/" + text_in(node, "thread");
    observation.nodes.push_back(std::move(read));
  }
}

void RunObserver::read_shares(const json& answers, Observation& observation) {
  std::map<std::string, ComponentTotals> now;
  for (ComponentTotals& totals : read_totals(answers)) now[totals.component] = std::move(totals);
  for (ObservedNode& node : observation.nodes) {
    const auto later = now.find(node.name);
    if (later == now.end()) continue;
    const auto earlier = totals_.find(node.name);
    node.shares = shares_between(earlier == totals_.end() ? nullptr : &earlier->second, later->second);
  }
  totals_ = std::move(now);
}

void RunObserver::read_processes(const json& answers, Observation& observation) {
  for (const auto& [name, answer] : answers.items()) {
    if (!answer.is_object() || answer.contains("error")) continue;
    ObservedProcess process{
        .name = name, .cpu = {}, .cpu_seconds = {}, .memory_bytes = count_in(answer, "memory_bytes")};
    for (const ObservedNode& node : observation.nodes) {
      if (node.process == name) process.pid = node.pid;
    }
    if (const auto cpu = count_in(answer, "cpu_ns")) {
      process.cpu_seconds = static_cast<double>(*cpu) * 1e-9;
      process.cpu = rate("cpu/" + name, *process.cpu_seconds, time_of_answer(answer));
    }
    observation.processes.push_back(std::move(process));
    read_edges(answer, observation);
  }
}

void RunObserver::read_edges(const json& answer, Observation& observation) {
  for (const json& edge : list_in(answer, "edges")) {
    if (!edge.is_object()) continue;
    ObservedEdge read{.number = count_in(edge, "edge").value_or(0),
                      .topic = text_in(edge, "topic"),
                      .from = text_in(edge, "from"),
                      .to = text_in(edge, "to"),
                      .policy = text_in(edge, "policy"),
                      .messages_per_s = {},
                      .bytes_per_s = {},
                      .messages = count_in(edge, "sent").value_or(0),
                      .bytes = count_in(edge, "bytes").value_or(0),
                      .under_way = count_in(edge, "under_way"),
                      .window = count_in(edge, "window").value_or(0),
                      .dropped = count_in(edge, "dropped").value_or(0),
                      .blocked = count_in(edge, "blocked").value_or(0)};
    const auto rate_of = [&](const char* key) {
      return rate(fmt::format("{}/{}", key, read.number), static_cast<double>(count_in(edge, key).value_or(0)),
                  time_of_answer(answer));
    };
    read.messages_per_s = rate_of("sent");
    read.bytes_per_s = rate_of("bytes");
    observation.edges.push_back(std::move(read));
  }
}

void RunObserver::find_bottleneck(Observation& observation) const {
  ObservedRun run;
  for (const ObservedNode& node : observation.nodes) {
    if (!node.shares) continue;
    run.components.push_back({node.name, node.plugin, threads_.at(node.name), *node.shares});
  }
  for (const ObservedEdge& edge : observation.edges) {
    if (edge.policy == "block") run.blocking_edges.emplace_back(edge.from, edge.to);
  }
  observation.bottlenecks = find_bottlenecks(run);
}

// If a counter has decreased, its process was started again.
std::optional<double> RunObserver::rate(const std::string& key, double value, std::int64_t time_ns) {
  const auto [known, is_new] = samples_.try_emplace(key, Sample{value, time_ns});
  const Sample before = std::exchange(known->second, {value, time_ns});
  if (is_new || value < before.value || time_ns <= before.time_ns) return {};
  return (value - before.value) / (static_cast<double>(time_ns - before.time_ns) * 1e-9);
}

}  // namespace trainyard::visitors
