// SPDX-License-Identifier: Apache-2.0
#include "visitors/registry_client.h"

#include <algorithm>

#include "messages/error.h"
#include "visitors/door.h"

namespace trainyard::visitors {
namespace {

using nlohmann::json;

/// How long an answer may take. This is a little longer than the launcher waits for a component, so that the launcher's
/// more detailed error arrives first.
constexpr std::chrono::seconds kDeadline{12};
/// The deadline for setting a parameter. The ranks do this together between two steps, and a step may take long.
constexpr std::chrono::seconds kDeadlineOfChange{72};
constexpr std::chrono::milliseconds kBetweenLooks{100};

}  // namespace

RegistryClient::RegistryClient(zmq::context_t& context, const std::string& endpoint) try
    : socket_(context, zmq::socket_type::dealer) {
  // If the program ends before a question has been sent, the question is discarded.
  socket_.set(zmq::sockopt::linger, 0);
  connect_visitor(socket_, endpoint);
} catch (const zmq::error_t& error) {
  throw Error(Code::kIo, "cannot connect to {}: {}", endpoint, error.what());
}

json RegistryClient::ask(const std::string& op) { return exchange({{"op", op}}, kDeadline); }

json RegistryClient::call(const std::string& target, const std::string& method, const json& body) {
  return exchange({{"op", "call"}, {"target", target}, {"method", method}, {"body", body}},
                  method == "param.set" ? kDeadlineOfChange : kDeadline);
}

std::uint64_t RegistryClient::post(json question) {
  const std::uint64_t id = next_id_++;
  question["id"] = id;
  socket_.send(zmq::buffer(question.dump()), zmq::send_flags::none);
  return id;
}

std::optional<json> RegistryClient::answer(std::uint64_t id, std::chrono::milliseconds deadline) {
  // Answers to other questions do not extend the deadline.
  const auto until = std::chrono::steady_clock::now() + deadline;
  for (;;) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    const bool last = !cancelled_ || left <= kBetweenLooks;
    if (!last) left = kBetweenLooks;
    socket_.set(zmq::sockopt::rcvtimeo, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    zmq::message_t frame;
    if (!socket_.recv(frame)) {
      if (last || cancelled_()) return std::nullopt;
      continue;
    }
    const json reply = json::parse(frame.to_string_view(), nullptr, false);
    // This is a late answer to an earlier question.
    if (!reply.is_object() || reply.value("id", json()) != json(id)) continue;
    if (reply.value("ok", false)) return reply.value("result", json());
    const bool unknown = reply.value("code", std::string()) == name_of(Code::kNotFound);
    throw Error(unknown ? Code::kNotFound : Code::kInvalidArgument, "{}", reply.value("error", "no reason given"));
  }
}

json RegistryClient::exchange(json question, std::chrono::seconds deadline) {
  if (auto result = answer(post(std::move(question)), deadline)) return *std::move(result);
  if (cancelled_ && cancelled_()) {
    throw Error(Code::kCancelled, std::string("the program ends, so the answer of the launcher is not awaited"));
  }
  throw Error(Code::kTimeout, "the launcher did not answer within {} s; is it stopped?", deadline.count());
}

}  // namespace trainyard::visitors
