// SPDX-License-Identifier: Apache-2.0
#include "components/front_door/reception.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "components/front_door/permissions.h"
#include "core/config/bounded_json.h"
#include "messages/error.h"
#include "visitors/door.h"
#include "visitors/json_fields.h"

namespace trainyard::front_door {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kBetweenLooks{1000};
/// The interval between calls of look() until the first list of topics has arrived, because a visitor may be waiting
/// for it.
constexpr std::chrono::milliseconds kBetweenFirstLooks{50};
/// The asker of the front door's own questions. The name of a visitor is never empty.
constexpr const char* kMyself = "";
/// The maximum number of sockets: those of the relay, and some for visitors, the registry, and sockets that are being
/// closed.
constexpr std::size_t kMostSockets = Relay::kMostLinks * visitors::GatewayLink::kSockets + 256;

core::Frames copied(const core::Frames& frames) {
  core::Frames copy;
  for (const zmq::message_t& frame : frames) copy.emplace_back(frame.to_string_view());
  return copy;
}

json failure(const json& id, const Error& error) {
  return {{"id", id}, {"ok", false}, {"error", error.what()}, {"code", name_of(error.code())}};
}

/// Changes the addresses of all publishers in a list of topics to that of the front door.
void set_endpoints(json& reply) {
  const auto topics = reply.find("result");
  if (topics == reply.end() || !topics->is_array()) return;
  for (json& topic : *topics) {
    if (!topic.is_object() || !topic.contains("publishers")) continue;
    for (json& publisher : topic["publishers"]) {
      if (publisher.is_object() && !visitors::text_in(publisher, "endpoint").empty())
        publisher["endpoint"] = visitors::kSameDoor;
    }
  }
}

}  // namespace

Reception::Reception(core::EventLoop& loop, const std::string& address, const core::Key& key, core::AllowList allowed,
                     Warn warn)
    : loop_(loop),
      warn_(std::move(warn)),
      context_(1, static_cast<int>(kMostSockets)),
      doorkeeper_(context_, std::move(allowed)),
      relay_(loop, context_),
      door_(context_, address, door_owner(), &key) {
  relay_.serve(door_);
}

Reception::~Reception() {
  if (questions_ == nullptr) return;
  door_.say_ended();
  loop_.cancel(timer_);
  for (core::Source* source :
       {static_cast<core::Source*>(&doorkeeper_), static_cast<core::Source*>(&door_),
        static_cast<core::Source*>(&door_.connections()), static_cast<core::Source*>(questions_.get())}) {
    loop_.remove(*source);
  }
}

void Reception::open(const std::string& registry) {
  questions_ = std::make_unique<Questions>(context_, registry);
  loop_.add(doorkeeper_);
  loop_.add(door_);
  loop_.add(door_.connections());
  loop_.add(*questions_);
  look();
}

core::VisitorDoor::Owner Reception::door_owner() {
  core::VisitorDoor::Owner owner = relay_.door_owner();
  owner.question = [this](const core::Frames& way_back, zmq::message_t& text) { hear(way_back, text); };
  return owner;
}

void Reception::hear(const core::Frames& way_back, zmq::message_t& text) {
  const core::PublicKey* visitor = doorkeeper_.sender_of(text);
  std::optional<json> question = parse_bounded_json(text.to_string_view());
  if (visitor == nullptr || !question || !question->is_object()) return;
  const json id = question->value("id", json());
  try {
    pass_on(way_back, *visitor, *std::move(question));
  } catch (const Error& error) {
    answer(way_back, failure(id, error));
  }
}

void Reception::pass_on(const core::Frames& way_back, const core::PublicKey& visitor, json question) {
  try {
    check_permission(visitor, question);
  } catch (const Error&) {
    ++refused_requests_;
    throw;
  }
  const bool about_topics = visitors::text_in(question, "op") == "topics";
  questions_->ask(way_back.front().to_string(), std::move(question),
                  [this, about_topics, back = std::make_shared<core::Frames>(copied(way_back))](json reply) {
                    if (about_topics) {
                      // The relay must know all topics of the answer, so that the visitor can subscribe to them.
                      relay_.locate(reply.value("result", json::array()));
                      set_endpoints(reply);
                    }
                    answer(*back, reply);
                  });
}

void Reception::answer(const core::Frames& way_back, const json& reply) {
  door_.answer(way_back, reply.dump(-1, ' ', false, json::error_handler_t::replace));
}

void Reception::look() {
  door_.sweep();
  questions_->forget_old();
  say_refusals();
  ask_for_topics();
  timer_ = loop_.after(located_ ? kBetweenLooks : kBetweenFirstLooks, [this] { look(); });
}

void Reception::ask_for_topics() {
  if (questions_->is_open(kMyself)) return;  // If it is never answered, forget_old() drops it.
  questions_->ask(kMyself, {{"op", "topics"}}, [this](json reply) {
    located_ = true;
    relay_.locate(reply.value("result", json::array()));
  });
}

// Called at most once a second, so that refused connections cannot fill the log.
void Reception::say_refusals() {
  const Refusals now = refusals();
  if (now.connections != said_.connections) {
    warn_(fmt::format("refused so far: connections without an admitted key: {}", now.connections));
  }
  if (now.requests != said_.requests) {
    warn_(fmt::format("refused so far: requests of visitors that may only watch: {}", now.requests));
  }
  said_ = now;
}

}  // namespace trainyard::front_door
