// SPDX-License-Identifier: Apache-2.0
#include "components/front_door/questions.h"

#include <algorithm>
#include <utility>

#include "core/transport/frames.h"
#include "messages/error.h"
#include "visitors/json_fields.h"

namespace trainyard::front_door {
namespace {

using nlohmann::json;

/// After this time, an open question is dropped. The launcher never needs longer: setting a parameter of all ranks may
/// take 70 s.
constexpr std::chrono::seconds kPatience{90};

}  // namespace

Questions::Questions(zmq::context_t& context, const std::string& registry)
    : socket_(core::make_socket(context, zmq::socket_type::dealer)) {
  socket_.set(zmq::sockopt::linger, 0);
  core::check_address(registry);
  socket_.connect(registry);
}

std::size_t Questions::open_of(const std::string& asker) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(open_, [&](const auto& open) { return open.second.asker == asker; }));
}

void Questions::ask(const std::string& asker, json question, Answer answer) {
  // The front door's own questions are not limited.
  if (!asker.empty() && (open_.size() >= kMost || open_of(asker) >= kMostOfOne)) {
    throw Error(Code::kUnsupported, "too many questions are not answered yet (at most {} of one visitor and {} of all)",
                kMostOfOne, kMost);
  }
  const std::uint64_t number = next_id_++;
  open_[number] = {
      .asker = asker, .id = question.value("id", json()), .answer = std::move(answer), .since = Clock::now()};
  question["id"] = number;
  core::Frames frames;
  // The question comes from another program and may contain invalid UTF-8, which is replaced.
  frames.emplace_back(std::string_view(question.dump(-1, ' ', false, json::error_handler_t::replace)));
  core::send_frames(socket_, frames);
}

bool Questions::poll() {
  constexpr int kRound = 16;
  core::Frames frames;
  int taken = 0;
  for (; taken < kRound && core::receive_frames(socket_, frames); ++taken) {
    if (frames.empty()) continue;
    json reply = json::parse(frames.back().to_string_view(), nullptr, false);
    if (!reply.is_object()) continue;
    auto open = open_.extract(visitors::count_in(reply, "id").value_or(0));
    if (open.empty()) continue;
    reply["id"] = std::move(open.mapped().id);
    open.mapped().answer(std::move(reply));
  }
  return taken != 0;
}

void Questions::forget_old() {
  std::erase_if(open_, [now = Clock::now()](const auto& open) { return now - open.second.since > kPatience; });
}

}  // namespace trainyard::front_door
