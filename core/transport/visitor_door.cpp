// SPDX-License-Identifier: Apache-2.0
#include "core/transport/visitor_door.h"

#include <algorithm>

#include "core/component/output.h"
#include "messages/error.h"
#include "messages/limits.h"
#include "messages/nearest.h"

namespace trainyard::core {
namespace {

/// The maximum number of messages of one visitor that wait to be read. Handling a message takes only microseconds, so
/// this is enough.
constexpr int kBacklog = 64;

/// The maximum size of a frame of a visitor that may also ask questions. Questions can contain the values of
/// parameters.
constexpr std::size_t kMaxFrameWithQuestions = 64 << 10;

/// Shortens a word from a request for an error message.
std::string shown(const std::string& word) { return word.substr(0, 40); }

void check_policy(const std::string& policy) {
  if (policy == name_of(Policy::kLatest) || policy == name_of(Policy::kDropOldest)) return;
  // Only an edge of the plan may make a component wait; a visitor never may.
  throw Error(Code::kInvalidArgument, "a visitor cannot ask for policy '{}'; allowed: drop_oldest, latest",
              shown(policy));
}

void check_payloads(const std::string& payloads) {
  if (payloads == "none" || payloads == "inline") return;
  // A visitor that received a handle might never release it, and the memory could not be reused.
  throw Error(Code::kInvalidArgument, "a visitor cannot ask for payloads '{}'; allowed: none, inline", shown(payloads));
}

void check_window(const char* name, std::uint64_t given, std::uint64_t most) {
  if (given > most) throw Error(Code::kInvalidArgument, "{} = {} is too much; at most {}", name, given, most);
}

void check(const Subscribe& request) {
  if (request.edge != kVisitorEdge) {
    throw Error(Code::kInvalidArgument, "edge {} is not for visitors; only {} is", request.edge, kVisitorEdge);
  }
  if (request.topic.size() > kMaxTopicBytes) {
    throw Error(Code::kInvalidArgument, "the topic's name has {} bytes; at most {}", request.topic.size(),
                kMaxTopicBytes);
  }
  check_policy(request.policy);
  check_payloads(request.payloads);
  check_window("window_messages", request.window_messages, kMaxVisitorWindow);
  check_window("window_bytes", request.window_bytes, kMaxVisitorWindowBytes);
}

/// Sends a control message to a visitor. Its bytes count as unread bytes of the visitor.
template <Message T>
void send_charged(VisitorSocket& socket, const std::string& visitor, const T& message) {
  Frames envelope;
  envelope.emplace_back(std::string_view(visitor));
  envelope.emplace_back();
  envelope.emplace_back(std::string_view(T::kTypeName));
  std::string body;
  std::vector<Buffer> none;
  encode(message, body, none);
  socket.answer(envelope, std::move(body));
}

}  // namespace

VisitorDoor::VisitorDoor(zmq::context_t& context, const std::string& address, Owner owner, const Key* key)
    : socket_(context, address, owner.question ? kMaxFrameWithQuestions : kMaxControlBytes, kBacklog, key),
      owner_(std::move(owner)),
      encoded_(owner_.failed) {}

bool VisitorDoor::poll() {
  constexpr int kRound = 16;
  int taken = 0;
  for (; taken < kRound && socket_.receive(incoming_); ++taken) {
    try {
      handle(incoming_);
    } catch (const Error&) {
      // A malformed message is ignored.
    }
  }
  encoded_.clear();
  trim_.add(static_cast<std::uint64_t>(taken));
  return taken != 0;
}

// A question from a DEALER socket is preceded by one frame, and a question from a REQ socket by two.
void VisitorDoor::hear_question(Frames& frames) {
  if (frames.size() < 2 || (frames.size() == 3 && frames[1].size() != 0)) return;
  if (!socket_.ledger().has_room(*socket_.account(frames[0].to_string()))) return;
  zmq::message_t question = std::move(frames.back());
  frames.pop_back();
  owner_.question(frames, question);
}

// The frames are the visitor's name, an empty frame, the name of the message type and the body, or they are a question.
// Anything else is ignored.
void VisitorDoor::handle(Frames& frames) {
  if (owner_.question && frames.size() <= 3) return hear_question(frames);
  if (frames.size() < 4 || frames[1].size() != 0) return;
  const std::string name = frames[0].to_string();
  const std::string_view kind = frames[2].to_string_view();
  if (kind == Subscribe::kTypeName) {
    subscribe(name, read_message<Subscribe>(frames[3]));
  } else if (kind == Credit::kTypeName) {
    const auto credit = read_message<Credit>(frames[3]);
    if (VisitorEdge* edge = find(name, credit.subscription)) edge->credit(credit.messages, credit.bytes);
  } else if (kind == Unsubscribe::kTypeName) {
    unsubscribe(name, read_message<Unsubscribe>(frames[3]).subscription);
  }
}

void VisitorDoor::check_room(const std::string& name) const {
  const auto visitor = visitors_.find(name);
  if (visitor == visitors_.end() && visitors_.size() >= kMostVisitors) {
    throw Error(Code::kUnsupported, "this process has {} visitors already, which is the most", kMostVisitors);
  }
  if (visitor != visitors_.end() && visitor->second.edges.size() >= kMaxVisitorSubscriptions) {
    throw Error(Code::kUnsupported, "one connection may have at most {} subscriptions", kMaxVisitorSubscriptions);
  }
  if (subscriptions() >= kMostSubscriptions) {
    throw Error(Code::kUnsupported, "the visitors of this process have {} subscriptions already, which is the most",
                kMostSubscriptions);
  }
}

Subscribed VisitorDoor::judge(const std::string& name, const Subscribe& request, OutputBase*& output) const {
  Subscribed answer{.subscription = request.subscription, .topic = request.topic.substr(0, kMaxTopicBytes)};
  try {
    check(request);
    output = owner_.find(request.topic);
    if (output == nullptr) throw Error(Code::kNotFound, "no topic '{}' in this process", request.topic);
    const MessageType& type = output->type();
    answer.type = type.name;
    answer.fingerprint = type.fingerprint;
    // A refusal also contains the schema, so that the visitor can compare it with its own.
    answer.schema = type.schema_text;
    if (request.fingerprint != 0 && request.fingerprint != type.fingerprint) {
      throw Error(Code::kTypeMismatch,
                  "the message types differ: '{}' has the fingerprint {:016x}, and {:016x} was asked for", type.name,
                  type.fingerprint, request.fingerprint);
    }
    check_room(name);
    if (owner_.admit) owner_.admit(request);
  } catch (const Error& error) {
    answer.error = error.what();
  }
  return answer;
}

void VisitorDoor::subscribe(const std::string& name, const Subscribe& request) {
  // A visitor that subscribes again has reconnected, so its subscription begins anew, with the full window.
  unsubscribe(name, request.subscription);
  const std::shared_ptr<VisitorAccount> account = socket_.account(name);
  // A visitor that does not read its answers gets no further ones.
  if (!socket_.ledger().has_room(*account)) return;
  OutputBase* output = nullptr;
  const Subscribed answer = judge(name, request, output);
  if (!answer.error.empty()) return send_charged(socket_, name, answer);
  Visitor& visitor = visitors_[name];
  visitor.account = account;
  visitor.edges.push_back(std::make_unique<VisitorEdge>(socket_, encoded_, *output, name, account, request));
  VisitorEdge& edge = *visitor.edges.back();
  owner_.joined(edge);
  send_charged(socket_, name, answer);
  // Messages are sent only now, because they must not overtake the answer.
  edge.open();
}

VisitorEdge* VisitorDoor::find(const std::string& name, std::uint32_t subscription) {
  const auto visitor = visitors_.find(name);
  if (visitor == visitors_.end()) return nullptr;
  const auto& edges = visitor->second.edges;
  const auto found = std::ranges::find(edges, subscription, [](const auto& edge) { return edge->subscription(); });
  return found == edges.end() ? nullptr : found->get();
}

void VisitorDoor::unsubscribe(const std::string& name, std::uint32_t subscription) {
  VisitorEdge* edge = find(name, subscription);
  if (edge == nullptr) return;
  owner_.left(*edge);
  std::erase_if(visitors_[name].edges, [edge](const auto& each) { return each.get() == edge; });
}

void VisitorDoor::dismiss(Visitors::iterator visitor) {
  for (const auto& edge : visitor->second.edges) owner_.left(*edge);
  visitors_.erase(visitor);
}

std::size_t VisitorDoor::subscriptions() const {
  std::size_t all = 0;
  for (const auto& [name, visitor] : visitors_) all += visitor.edges.size();
  return all;
}

void VisitorDoor::send(const Envelope& envelope, const std::vector<VisitorEdge*>& edges) {
  for (VisitorEdge* edge : edges) edge->send(envelope);
  encoded_.clear();
}

void VisitorDoor::sweep() {
  for (auto visitor = visitors_.begin(); visitor != visitors_.end();) {
    const auto here = visitor++;
    const auto& [account, edges] = here->second;
    const bool gone = std::ranges::any_of(edges, [](const auto& edge) { return edge->gone(); });
    if (edges.empty() || gone || !socket_.present(here->first, account)) dismiss(here);
  }
  trim_.check(socket_.ledger().unread());
}

void VisitorDoor::say_ended() {
  for (const auto& [name, visitor] : visitors_) {
    for (const auto& edge : visitor.edges) send_charged(socket_, name, Ended{edge->subscription()});
  }
}

void VisitorDoor::each(const std::function<void(const VisitorEdge&)>& see) const {
  for (const auto& [name, visitor] : visitors_) {
    for (const auto& edge : visitor.edges) see(*edge);
  }
}

}  // namespace trainyard::core
