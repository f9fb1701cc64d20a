// SPDX-License-Identifier: Apache-2.0
#include "recordings/run_recording.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <thread>

#include "messages/spans.h"
#include "visitors/registry_client.h"

namespace trainyard::recordings {
namespace {

using nlohmann::json;

/// Returns the options with the largest window that a visitor can get (docs/wire_format.md), so that the recorder
/// misses as few messages as possible.
visitors::ListenOptions listen_options(bool payloads) {
  return {.payloads = payloads ? "inline" : "none", .window_messages = 1024, .window_bytes = 64ull << 20};
}

bool matches(const std::vector<std::string>& patterns, const std::string& topic) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), topic.c_str(), 0) == 0 ||
           ::fnmatch(("/" + pattern).c_str(), topic.c_str(), 0) == 0;
  });
}

/// Returns the topics to record. If no topics are excluded, these are simply the patterns, and Watch reports patterns
/// that match nothing.
std::vector<std::string> chosen_topics(zmq::context_t& context, const visitors::RunInfo& run,
                                       const RunRecordingOptions& options) {
  if (options.exclude.empty()) return options.topics;
  std::vector<std::string> chosen;
  for (const json& topic : visitors::RegistryClient(context, run.registry).ask("topics")) {
    const std::string name = topic.value("topic", "");
    const bool wanted = options.topics.empty() ? !is_topic_of_spans(name) : matches(options.topics, name);
    if (wanted && !matches(options.exclude, name)) chosen.push_back(name);
  }
  if (chosen.empty()) throw Error(Code::kInvalidArgument, "every topic is excluded, so nothing would be recorded");
  return chosen;
}

json topics_of(const json& node, const char* ports) {
  json topics = json::array();
  for (const json& port : node.value(ports, json::array())) topics.push_back(port.value("topic", ""));
  return topics;
}

/// Returns the value for kComponentsKey, which describes the components and their topics. `nodes` is the registry's
/// answer.
std::string describe(const json& nodes) {
  json list = json::array();
  for (const json& node : nodes) {
    list.push_back({{"component", node.value("component", "")},
                    {"plugin", node.value("plugin", "")},
                    {"process", node.value("process", "")},
                    {"rank", node.value("rank", json())},
                    {"inputs", topics_of(node, "inputs")},
                    {"outputs", topics_of(node, "outputs")}});
  }
  return list.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

RunRecording::RunRecording(zmq::context_t& context, visitors::RunInfo run, RunRecordingOptions options)
    : context_(context), watch_(context, run, chosen_topics(context, run, options), listen_options(options.payloads)) {
  learn_names();
  options.files.run["run"] = run.run;
  options.files.run["name"] = run.name;
  options.files.run["launch file"] = run.file;
  options.files.run[kComponentsKey] = description_;
  options.files.run["payloads"] = options.payloads ? "inline" : "none";
  options.files.component_name = [this](std::uint32_t source) {
    const auto component = components_.find(source);
    return component == components_.end() ? std::string() : component->second;
  };
  recorder_ = std::make_unique<Recorder>(std::move(options.files));
}

// Asks the registry for the names of components and processes. Header::source is the index of a component in the
// registry's list. A process is identified by the address of its gateway.
void RunRecording::learn_names() {
  visitors::RegistryClient registry(context_, watch_.run().registry);
  std::uint32_t index = 0;
  const json nodes = registry.ask("nodes");
  for (const json& node : nodes) components_[index++] = node.value("component", "");
  description_ = describe(nodes);
  for (const json& topic : registry.ask("topics")) {
    for (const json& publisher : topic.value("publishers", json::array())) {
      processes_[publisher.value("endpoint", "")] = publisher.value("process", "");
    }
  }
}

bool RunRecording::record_for(std::chrono::milliseconds time) {
  // Messages must be written in time, even if no more messages arrive.
  constexpr std::chrono::milliseconds kSlice{200};
  // After messages have arrived, the thread sleeps this long, so that the next messages are recorded in batches. Waking
  // up for each message would take several times as much processor time as recording it.
  constexpr std::chrono::milliseconds kNap{2};
  const auto until = Recorder::Clock::now() + time;
  bool any = false;
  for (auto now = Recorder::Clock::now(); now < until && !watch_.ended(); now = Recorder::Clock::now()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now);
    const bool some = take_batch(std::min(left, kSlice));
    recorder_->tick(Recorder::Clock::now());
    if (some) std::this_thread::sleep_for(kNap);
    any = any || some;
  }
  // If the launcher has died, more messages than one batch may have arrived before.
  while (watch_.ended() && take_batch(std::chrono::milliseconds(0))) {
    recorder_->tick(Recorder::Clock::now());
    any = true;
  }
  return any;
}

bool RunRecording::take_batch(std::chrono::milliseconds deadline) {
  constexpr int kMostInBatch = 1000;  // Limited, so that tick() is called in time even if the run is busy.
  auto message = watch_.next(deadline);
  const bool any = message.has_value();
  for (int taken = 1; message; ++taken) {
    take(*message);
    message = taken < kMostInBatch ? watch_.next(std::chrono::milliseconds(0)) : std::nullopt;
  }
  return any;
}

const std::shared_ptr<const Feed>& RunRecording::feed_of(const visitors::Received& message) {
  std::shared_ptr<const Feed>& feed = feeds_[{message.stream, *message.endpoint}];
  if (feed == nullptr) {
    // A process that has been started again may have a new address.
    if (!processes_.contains(*message.endpoint)) learn_names();
    feed = std::make_shared<const Feed>(Feed{.topic = message.stream->topic,
                                             .process = processes_[*message.endpoint],
                                             .schema_text = message.stream->schema_text,
                                             .schema = message.stream->schema});
  }
  return feed;
}

void RunRecording::take(const visitors::Received& message) {
  std::vector<std::string_view> payloads;
  for (const zmq::message_t& payload : message.payloads) payloads.push_back(payload.to_string_view());
  recorder_->take({.feed = feed_of(message),
                   .header = message.header,
                   .body = message.bytes(),
                   .payloads = payloads,
                   .time_ns = static_cast<std::uint64_t>(message.arrival_time_ns)});
}

void RunRecording::finish(const std::string& ended) {
  const char* objection = watch_.killed()    ? "the run was killed"
                          : watch_.cut_off() ? "a process of the run ended without saying so"
                                             : "";
  recorder_->finish(ended.empty() ? "the run has ended" : ended, objection);
}

}  // namespace trainyard::recordings
