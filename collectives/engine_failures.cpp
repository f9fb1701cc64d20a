#include <fmt/format.h>

#include <algorithm>

#include "collectives/engine.h"

// How an engine finds out which member is to blame, and tells the others.

namespace trainyard {
namespace {

using namespace std::chrono_literals;

/// How long a member may take to answer a ping; its engine does so whatever its caller computes.
std::chrono::milliseconds grace_of(const CollectiveContext& context) {
  return std::min<std::chrono::milliseconds>(context.timeout / 4, 1s);
}

}  // namespace

std::vector<std::uint32_t> Engine::missing(const Active& active) const {
  const Operation& operation = active.operation;
  if (operation.request.kind == OperationKind::kSend) return {};
  if (operation.request.kind == OperationKind::kRecv) return {operation.request.member};
  if (active.agreed) return active.transfer == nullptr ? std::vector<std::uint32_t>{} : active.transfer->missing();
  std::vector<std::uint32_t> members = others();
  std::erase_if(members, [&](std::uint32_t member) {
    return mesh_->has(member, {Tag::kAsked, 0, operation.common_number});
  });
  return members;
}

// Others have found something out: it counts here, too.
void Engine::look_for_news() {
  for (const std::uint32_t member : others()) {
    const auto parcel = mesh_->take(member, {.kind = Tag::kFailed});
    if (!parcel) continue;
    const std::string finding(reinterpret_cast<const char*>(parcel->body.data()), parcel->body.size());
    fail(static_cast<Code>(parcel->request.member), finding, false);
  }
}

void Engine::look_for_lost() {
  for (const Active& active : active_) {
    if (!active.started) continue;
    std::vector<std::uint32_t> lost;
    const std::vector<std::uint32_t> needed = missing(active);
    for (const std::uint32_t member : others()) {
      const Mesh::Presence presence = mesh_->presence(member);
      // A transfer that cannot say whom it needs is spoilt by anyone who is lost, but not by one who has finished.
      const bool is_needed = needed.empty() ? active.agreed && presence == Mesh::Presence::kLost
                                            : std::ranges::find(needed, member) != needed.end();
      if (is_needed && presence != Mesh::Presence::kHere) lost.push_back(member);
    }
    if (lost.empty()) continue;
    const bool left = mesh_->presence(lost.front()) == Mesh::Presence::kLeft;
    fail(Code::kPeerLost, fmt::format("{} {} before {} was finished", ranks_of(lost),
                                      left ? "left the group" : "is gone (its process ended or was killed)",
                                      describe_operation(active)));
    return;
  }
}

void Engine::look_at_clock() {
  if (active_.empty()) return;
  const auto now = Clock::now();
  const std::chrono::milliseconds grace = grace_of(context_);
  if (!broken_.empty()) {
    if (now < *pinged_ + grace) return;
    const std::vector<std::uint32_t> silent = without_pong(others());
    if (silent.empty()) return fail(Code::kIo, broken_);
    return fail(Code::kTimeout, fmt::format("{} does not answer, and then: {}", ranks_of(silent), broken_));
  }
  std::optional<Waiting> waiting;
  {
    const std::lock_guard lock(mutex_);
    waiting = waiting_;
  }
  if (!waiting) return;
  const auto found = std::ranges::find(active_, waiting->number, [](const Active& a) { return a.operation.number; });
  if (found == active_.end()) return;
  const Active* held_up = &*found;  // By the one that waits for others, in the end.
  while (held_up != nullptr && !held_up->started) held_up = blocker_of(*held_up);
  if (held_up == nullptr) return;
  const auto waited =
      std::chrono::duration_cast<std::chrono::milliseconds>(now - std::max(waiting->since, held_up->since));
  if (waited >= context_.timeout - grace && !pinged_) ping_all();
  if (waited >= context_.timeout) name_silent(*held_up, waited);
}

// A member may be late only because it waits itself for the one that is stopped: who does not answer is to blame first,
// even if what it owes is owed to others.
void Engine::name_silent(const Active& active, std::chrono::milliseconds waited) {
  std::vector<std::uint32_t> silent = without_pong(missing(active));
  if (silent.empty()) silent = without_pong(others());
  if (silent.empty()) silent = missing(active);
  if (silent.empty()) silent = others();
  fail(Code::kTimeout, fmt::format("{} did not come to {} within {:.3g} s", ranks_of(silent),
                                   describe_operation(active), waited.count() / 1000.0));
}

void Engine::transfer_broke(const Active& active, const std::string& text) {
  broken_ = fmt::format("{} failed: {}", describe_operation(active), text);
  ping_all();
}

void Engine::ping_all() {
  pinged_ = Clock::now();
  ++pings_;
  for (const std::uint32_t member : others()) mesh_->send(member, {Tag::kPing, 0, pings_});
}

std::vector<std::uint32_t> Engine::without_pong(const std::vector<std::uint32_t>& members) const {
  std::vector<std::uint32_t> silent = members;
  std::erase_if(silent, [&](std::uint32_t member) { return mesh_->has(member, {Tag::kPong, 0, pings_}); });
  return silent;
}

void Engine::fail(Code code, const std::string& finding, bool tell) {
  if (failure_) return;  // Written by this thread alone.
  if (tell) {
    Request note;
    note.member = static_cast<std::uint32_t>(code);
    for (const std::uint32_t member : others()) {
      mesh_->send(member, {.kind = Tag::kFailed}, note, std::as_bytes(std::span(finding)));
    }
  }
  abandon();
  const std::lock_guard lock(mutex_);
  failure_ = Failure{code, finding};
  changed_.notify_all();
}

std::string Engine::ranks_of(const std::vector<std::uint32_t>& members) const {
  std::vector<std::uint32_t> ranks;
  for (const std::uint32_t member : members) ranks.push_back(context_.ranks[member]);
  return name_ranks(ranks);
}

std::string Engine::describe_operation(const Active& active) const {
  const Request& request = active.operation.request;
  if (request.kind == OperationKind::kRecv) {
    return fmt::format("the {} from rank {} by rank {} in group '{}'", describe(request, context_.ranks),
                       context_.ranks[request.member], context_.rank, context_.name);
  }
  return fmt::format("operation {} of group '{}', {}", active.operation.common_number, context_.name,
                     describe(request, context_.ranks));
}

}  // namespace trainyard
