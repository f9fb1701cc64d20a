// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/played_registry.h"

#include <nlohmann/json.hpp>

#include "core/config/bounded_json.h"
#include "messages/error.h"
#include "messages/limits.h"
#include "messages/nearest.h"

namespace trainyard::tools {
namespace {

using nlohmann::json;

/// The largest number of questions of one client that may wait for an answer.
constexpr int kBacklog = 4;

json failure(const json& id, Code code, const std::string& error) {
  return {{"id", id}, {"ok", false}, {"error", error}, {"code", name_of(code)}};
}

}  // namespace

PlayedRegistry::PlayedRegistry(zmq::context_t& context, const std::string& address, Describe describe)
    : socket_(context, address, kMaxQuestionBytes, kBacklog), describe_(std::move(describe)) {}

bool PlayedRegistry::poll() {
  constexpr int kRound = 16;
  int taken = 0;
  for (; taken < kRound && socket_.receive(frames_); ++taken) {
    // The frames before the last frame are the address for the answer: one frame from a DEALER socket, two from a REQ
    // socket.
    if (frames_.size() < 2 || frames_.size() > 3) continue;
    const zmq::message_t text = std::move(frames_.back());
    frames_.pop_back();
    const auto account = socket_.account(frames_.front().to_string());
    // A client that does not read its answers gets no further answers.
    if (!socket_.ledger().has_room(*account)) continue;
    const json answer = answer_to(text.to_string_view());
    socket_.answer(frames_, answer.dump(-1, ' ', false, json::error_handler_t::replace));
  }
  trim_.add(static_cast<std::uint64_t>(taken));
  return taken != 0;
}

json PlayedRegistry::answer_to(std::string_view text) const {
  const std::optional<json> question = parse_bounded_json(text);
  if (!question || !question->is_object()) {
    return failure(nullptr, Code::kInvalidArgument, "the question is not a JSON object of at most 64 levels");
  }
  const json id = question->value("id", json());
  const json given = question->value("op", json());
  const std::string op = given.is_string() ? given.get<std::string>() : "";
  // `trainyard topic info` calls all processes for their counters. A recording has none.
  const bool of_processes = op == "call" && question->value("target", json("")) == "" && !question->contains("process");
  if (of_processes) return {{"id", id}, {"ok", true}, {"result", json::object()}};
  if (op == "call" || op == "params") {
    return failure(id, Code::kUnsupported, "this is a recording that is played; it has no components to call");
  }
  if (op != "run" && op != "topics" && op != "nodes") {
    return failure(id, Code::kInvalidArgument,
                   "no op '" + op.substr(0, 40) + "'" + suggestion(op.substr(0, 40), {"run", "topics", "nodes"}));
  }
  return {{"id", id}, {"ok", true}, {"result", describe_(op)}};
}

}  // namespace trainyard::tools
