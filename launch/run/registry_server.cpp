// SPDX-License-Identifier: Apache-2.0
#include "launch/run/registry_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/config/bounded_json.h"
#include "core/config/nearest.h"
#include "launch/run/registry_answers.h"
#include "messages/error.h"

namespace trainyard::launch {

// Sits on the launcher's poll loop beside everything else, so no question may make it wait: a call is sent on and its
// answer comes as an event (CallTable).

namespace {

using nlohmann::json;

/// For the process to answer. A client should wait a little longer, or it misses the error that says so.
constexpr std::chrono::seconds kCallDeadline{10};

json success(const json& id, json result) { return {{"id", id}, {"ok", true}, {"result", std::move(result)}}; }
json failure(const json& id, const std::string& error) { return {{"id", id}, {"ok", false}, {"error", error}}; }

/// An error of the registry itself has a code too; what a component answers is text.
json failure(const json& id, const Error& error) {
  return {{"id", id}, {"ok", false}, {"error", error.what()}, {"code", name_of(error.code())}};
}

/// What a component answered: JSON as a rule, and text if it was not.
json parsed(const std::string& body) {
  const std::optional<json> value = parse_bounded_json(body);
  return value ? *value : json(body);
}

/// Empty for a key that is missing or null.
std::string text_of(const json& question, const char* key) {
  const auto value = question.find(key);
  if (value == question.end() || value->is_null()) return "";
  if (!value->is_string())
    throw Error(Code::kInvalidArgument, "\"{}\": {} was given; a string is needed", key, value->dump());
  return value->get<std::string>();
}

std::string body_of(const json& question) {
  const auto body = question.find("body");
  return body == question.end() || body->is_null() ? "{}" : body->dump();
}

}  // namespace

RegistryServer::RegistryServer(RunContext& run)
    : run_(run),
      parameters_(run),
      endpoint_(run.directory.endpoint("registry")),
      socket_(run.sockets, endpoint_),
      watch_(run.loop.watch_socket(socket_.handle(), [this] { receive(); })) {}

RegistryServer::~RegistryServer() { run_.loop.cancel(watch_); }

void RegistryServer::receive() {
  while (auto frames = socket_.receive()) {
    // Everything before the last frame is the way back: one frame from a DEALER, two from a REQ socket.
    const std::string text = std::move(frames->back());
    frames->pop_back();
    // Without exceptions: what strangers write is no exceptional case.
    const std::optional<json> question = parse_bounded_json(text);
    // It is answered all the same, without an id: the client learns that it was heard.
    if (!question || !question->is_object()) {
      answer(*frames,
             failure(nullptr, fmt::format("the question is not a JSON object of at most {} levels", kMaxJsonDepth)));
      continue;
    }
    try {
      serve(*frames, *question);
    } catch (const Error& error) {
      answer(*frames, failure(question->value("id", json()), error));
    }
  }
}

void RegistryServer::answer(const RouterSocket::Frames& envelope, const json& reply) {
  RouterSocket::Frames frames = envelope;
  // Text from elsewhere may not be UTF-8; a question mark in its place is better than no answer.
  frames.push_back(reply.dump(-1, ' ', false, json::error_handler_t::replace));
  socket_.send(frames);  // A client that is gone needs no answer.
}

// The ops without arguments.
json RegistryServer::describe(const std::string& op) const {
  if (op == "run") return describe_run(run_);
  if (op == "topics") return describe_topics(run_);
  if (op == "nodes") return describe_nodes(run_);
  throw Error(Code::kInvalidArgument, "no op '{}'{}", op, suggestion(op, {"run", "topics", "nodes", "call", "params"}));
}

// What the launcher knows is answered at once; a call is passed on, and answered when its answer comes.
void RegistryServer::serve(const RouterSocket::Frames& envelope, const json& question) {
  const std::string op = text_of(question, "op");
  if (op == "call") return serve_call(envelope, question);
  if (op == "params") {
    json call = question;
    call["method"] = "param.list";
    return serve_call(envelope, call);
  }
  answer(envelope, success(question.value("id", json()), describe(op)));
}

void RegistryServer::serve_call(const RouterSocket::Frames& envelope, const json& question) {
  const json id = question.value("id", json());
  const std::string target = text_of(question, "target");
  const std::string method = text_of(question, "method");
  const std::string in_process = text_of(question, "process");
  if (target.empty() && in_process.empty()) return call_all_processes(envelope, id, method, body_of(question));
  const auto reply = [this, envelope, id](bool ok, const std::string& body) {
    answer(envelope, ok ? success(id, parsed(body)) : failure(id, body));
  };
  if (!target.empty()) return call_component(target, method, body_of(question), reply);
  // Throws for a name that does not exist, before anything is sent.
  run_.call(process(in_process).name(), target, method, body_of(question), kCallDeadline, reply);
}

void RegistryServer::call_component(const std::string& target, const std::string& method, const std::string& body,
                                    CallTable::Answer answer) {
  const ComponentPlan& called = component(target);
  if (method != "param.set" || !parameters_.is_run_wide(called)) {
    return run_.call(called.process, called.name, method, body, kCallDeadline, std::move(answer));
  }
  parameters_.check_all_ranks(target);
  parameters_.set(target, body, std::move(answer));
}

void RegistryServer::call_all_processes(const RouterSocket::Frames& envelope, const json& id, const std::string& method,
                                        const std::string& body) {
  struct Gathered {
    json results = json::object();
    // Answers that are still out.
    std::size_t open = 1;  // One for the loop below, so that quick answers do not end it early.
  };
  const auto gathered = std::make_shared<Gathered>();
  const auto one_less = [this, gathered, envelope, id] {
    if (--gathered->open == 0) answer(envelope, success(id, gathered->results));
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

// The component's own number goes back with the answer; within the launcher the call has another.
void RegistryServer::forward(const std::string& from_process, const Request& request) {
  const auto reply = [this, from_process, id = request.id](bool ok, const std::string& body) {
    run_.control.send(from_process, Reply{id, ok, body});
  };
  try {
    if (request.target.empty()) return reply(true, describe(request.method).dump());
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
