// SPDX-License-Identifier: Apache-2.0
#include "launch/run/registry_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/config/bounded_json.h"
#include "launch/run/registry_answers.h"
#include "messages/error.h"
#include "messages/limits.h"
#include "messages/log_record.h"
#include "messages/nearest.h"
#include "messages/spans.h"

namespace trainyard::launch {

// The server runs on the launcher's poll loop, so it must not wait for an answer. A call is passed on to the process,
// and the answer arrives later as an event (CallTable).

namespace {

using nlohmann::json;

/// The time within which a process must answer. A client should wait a little longer; otherwise it misses the error
/// about this deadline.
constexpr std::chrono::seconds kCallDeadline{10};

/// How often unused memory, which many clients can leave in the allocator, is returned to the system.
constexpr std::chrono::seconds kTrimInterval{1};

/// The limits for one client: the number of questions that wait in the socket, and the number of calls that have not
/// been answered yet.
constexpr int kBacklog = 4;
constexpr std::size_t kMostCallsOfClient = 32;
constexpr std::size_t kMostCalls = 512;

json success(const json& id, json result) { return {{"id", id}, {"ok", true}, {"result", std::move(result)}}; }
json failure(const json& id, const std::string& error) { return {{"id", id}, {"ok", false}, {"error", error}}; }

/// Returns the answer for an error of the registry itself. It contains an error code, which errors of components do not
/// have.
json failure(const json& id, const Error& error) {
  return {{"id", id}, {"ok", false}, {"error", error.what()}, {"code", name_of(error.code())}};
}

/// Converts the answer of a component to JSON. If it is not valid JSON, returns it as a string.
json parsed(const std::string& body) {
  const std::optional<json> value = parse_bounded_json(body);
  return value ? *value : json(body);
}

/// Returns the string at `key`, or an empty string if the key is missing or null.
std::string text_of(const json& question, const char* key) {
  const auto value = question.find(key);
  if (value == question.end() || value->is_null()) return "";
  if (!value->is_string())
    throw Error(Code::kInvalidArgument, "\"{}\": {} was given; a string is needed", key, value->dump());
  return value->get<std::string>();
}

core::Frames copy_of(const core::Frames& frames) {
  core::Frames copy;
  for (const zmq::message_t& frame : frames) copy.emplace_back(frame.to_string_view());
  return copy;
}

std::string body_of(const json& question) {
  const auto body = question.find("body");
  return body == question.end() || body->is_null() ? "{}" : body->dump();
}

}  // namespace

RegistryServer::RegistryServer(RunContext& run, const RunOutcome& outcome)
    : run_(run),
      outcome_(outcome),
      parameters_(run),
      socket_(run.sockets, run.directory.endpoint("registry"), kMaxQuestionBytes, kBacklog),
      watch_(run.loop.watch_socket(socket_.handle(), [this] { receive(); })),
      connections_watch_(
          run.loop.watch_socket(socket_.connections().socket(), [this] { socket_.connections().poll(); })),
      trim_timer_(run.loop.after(kTrimInterval, [this] { check_memory(); })) {}

RegistryServer::~RegistryServer() {
  run_.loop.cancel(watch_);
  run_.loop.cancel(connections_watch_);
  run_.loop.cancel(trim_timer_);
}

// libzmq takes questions from the clients in turn, so a client with many questions does not delay the others.
void RegistryServer::receive() {
  constexpr int kRound = 16;
  for (int i = 0; i < kRound && socket_.receive(frames_); ++i) {
    // All frames before the last one belong to the envelope: one frame from a DEALER socket, two frames from a REQ
    // socket.
    if (frames_.size() < 2 || frames_.size() > 3) continue;
    const zmq::message_t text = std::move(frames_.back());
    frames_.pop_back();
    trim_.add(1);
    // Questions of a client that does not read its answers are dropped.
    const auto account = socket_.account(frames_.front().to_string());
    if (socket_.ledger().has_room(*account)) serve_text(frames_, text.to_string_view());
  }
}

void RegistryServer::check_memory() {
  trim_.check(socket_.ledger().unread());
  trim_timer_ = run_.loop.after(kTrimInterval, [this] { check_memory(); });
}

void RegistryServer::serve_text(const Envelope& envelope, std::string_view text) {
  // Malformed JSON is not reported by an exception, because clients are not trusted.
  const std::optional<json> question = parse_bounded_json(text);
  // A malformed question is answered, too, but without an id.
  if (!question || !question->is_object()) {
    return answer(envelope, failure(nullptr, fmt::format("the question is not a JSON object of at most {} levels",
                                                         kMaxJsonDepth)));
  }
  try {
    serve(copy_of(envelope), *question);
  } catch (const Error& error) {
    answer(envelope, failure(question->value("id", json()), error));
  }
}

void RegistryServer::answer(const Envelope& envelope, const json& reply) {
  // The answer can contain text that is not valid UTF-8. Invalid bytes are replaced.
  socket_.answer(envelope, reply.dump(-1, ' ', false, json::error_handler_t::replace));
}

void RegistryServer::open_call(const std::string& client) {
  std::size_t& open = open_calls_[client];
  if (open >= kMostCallsOfClient) {
    throw Error(Code::kUnsupported, "{} calls of this client are not answered yet, which is the most", open);
  }
  if (all_open_calls_ >= kMostCalls) {
    if (open == 0) open_calls_.erase(client);
    throw Error(Code::kUnsupported, "{} calls are not answered yet, which is the most; ask again", all_open_calls_);
  }
  ++open;
  ++all_open_calls_;
}

void RegistryServer::answer_call(const Envelope& envelope, const json& reply) {
  const auto open = open_calls_.find(envelope.front().to_string());
  --all_open_calls_;
  if (--open->second == 0) open_calls_.erase(open);
  answer(envelope, reply);
}

// Answers the ops that have no arguments.
json RegistryServer::describe(const std::string& op) {
  if (op == "run") return describe_run(run_, outcome_);
  if (op == "nodes") return describe_nodes(run_);
  if (op == "topics") {
    json topics = describe_topics(run_);
    announcements_.append_to(topics, std::chrono::steady_clock::now());
    return topics;
  }
  throw Error(Code::kInvalidArgument, "no op '{}'{}", op,
              suggestion(op, {"run", "topics", "nodes", "call", "params", "announce", "withdraw"}));
}

json RegistryServer::announce(const json& question) {
  const auto latched = question.find("latched");
  const Announcement announcement{.topic = text_of(question, "topic"),
                                  .schema = text_of(question, "schema"),
                                  .endpoint = text_of(question, "endpoint"),
                                  .publisher = text_of(question, "publisher"),
                                  .latched = latched != question.end() && *latched == json(true)};
  for (const ComponentPlan& component : run_.plan.components) {
    // Every process publishes the log and spans, so these topics belong to the run even if no component has such a
    // port.
    const bool has =
        announcement.topic == kLogTopic || is_topic_of_spans(announcement.topic) ||
        std::ranges::any_of(component.topics, [&](const auto& port) { return port.second == announcement.topic; });
    if (!has) continue;
    throw Error(Code::kInvalidArgument,
                "the topic {} belongs to the run ({} has a port there, for instance); a visitor can publish only "
                "topics that no component sends or receives",
                announcement.topic, component.name);
  }
  announcements_.announce(announcement, std::chrono::steady_clock::now());
  return {{"lease_s", Announcements::kLease.count()}};
}

// Answers questions about the run immediately. Passes a call on, and answers it when the answer of the component has
// arrived.
void RegistryServer::serve(Envelope envelope, const json& question) {
  const std::string op = text_of(question, "op");
  if (op == "call") return serve_call(std::move(envelope), question);
  if (op == "params") {
    json call = question;
    call["method"] = "param.list";
    return serve_call(std::move(envelope), call);
  }
  const json id = question.value("id", json());
  if (op == "announce") return answer(envelope, success(id, announce(question)));
  if (op == "withdraw") {
    announcements_.withdraw(text_of(question, "topic"), text_of(question, "endpoint"));
    return answer(envelope, success(id, json::object()));
  }
  answer(envelope, success(id, describe(op)));
}

void RegistryServer::serve_call(Envelope envelope, const json& question) {
  const json id = question.value("id", json());
  const std::string target = text_of(question, "target");
  const std::string method = text_of(question, "method");
  const std::string in_process = text_of(question, "process");
  if (target.empty() && in_process.empty()) {
    return call_all_processes(std::move(envelope), id, method, body_of(question));
  }
  // Errors about names that do not exist and calls that are not allowed are thrown before anything is sent.
  const std::string process_name = target.empty() ? process(in_process).name() : "";
  if (!target.empty()) check_call(target, method);
  open_call(envelope.front().to_string());
  const auto reply = [this, way_back = std::make_shared<Envelope>(std::move(envelope)), id](bool ok,
                                                                                            const std::string& body) {
    answer_call(*way_back, ok ? success(id, parsed(body)) : failure(id, body));
  };
  if (!target.empty()) return call_component(target, method, body_of(question), reply);
  run_.call(process_name, target, method, body_of(question), kCallDeadline, reply);
}

void RegistryServer::check_call(const std::string& target, const std::string& method) const {
  const ComponentPlan& called = component(target);
  if (method == "param.set" && parameters_.is_run_wide(called)) parameters_.check_all_ranks(target, called);
}

void RegistryServer::call_component(const std::string& target, const std::string& method, const std::string& body,
                                    CallTable::Answer answer) {
  const ComponentPlan& called = component(target);
  if (method == "param.set" && parameters_.is_run_wide(called)) {
    return parameters_.set(called, body, std::move(answer));
  }
  run_.call(called.process, called.name, method, body, kCallDeadline, std::move(answer));
}

void RegistryServer::call_all_processes(Envelope envelope, const json& id, const std::string& method,
                                        const std::string& body) {
  struct Gathered {
    Envelope way_back;
    json results = json::object();
    // The number of missing answers, plus one while the calls are being sent, so that early answers do not complete the
    // result.
    std::size_t open = 1;
  };
  open_call(envelope.front().to_string());
  const auto gathered = std::make_shared<Gathered>();
  gathered->way_back = std::move(envelope);
  const auto one_less = [this, gathered, id] {
    if (--gathered->open == 0) answer_call(gathered->way_back, success(id, gathered->results));
  };
  for (const auto& child : run_.crew.children()) {
    if (!child->has_components()) continue;
    ++gathered->open;
    run_.call(child->name(), "", method, body, kCallDeadline,
              [gathered, one_less, name = child->name()](bool ok, const std::string& answered) {
                gathered->results[name] = ok ? parsed(answered) : json{{"error", answered}};
                one_less();
              });
  }
  one_less();
}

// The answer contains the id that the component has given its request. Within the launcher, the call has another id.
void RegistryServer::forward(const std::string& from_process, const Request& request) {
  const auto reply = [this, from_process, id = request.id](bool ok, const std::string& body) {
    run_.control.send(from_process, Reply{id, ok, body});
  };
  try {
    if (request.target.empty()) return reply(true, describe(request.method).dump());
    check_call(request.target, request.method);
    call_component(request.target, request.method, request.body, reply);
  } catch (const Error& error) {
    reply(false, error.what());
  }
}

const ComponentPlan& RegistryServer::component(const std::string& name) const {
  const std::vector<const ComponentPlan*> found = parameters_.named(name);
  if (!found.empty()) return *found.front();
  throw Error(Code::kNotFound, "no component named '{}'{}", name, suggestion(name, component_names(run_.plan)));
}

const ChildProcess& RegistryServer::process(const std::string& name) const {
  const ChildProcess* child = run_.crew.find(name);
  if (child != nullptr && child->has_components()) return *child;
  std::vector<std::string> known;
  for (const auto& one : run_.crew.children()) {
    if (one->has_components()) known.push_back(one->name());
  }
  throw Error(Code::kNotFound, "no process named '{}'{}", name, suggestion(name, known));
}

}  // namespace trainyard::launch
