// SPDX-License-Identifier: Apache-2.0
#include "collectives/engine.h"

#include <fmt/format.h>

#include <algorithm>

namespace trainyard::collectives {

Engine::Engine(Settings settings, Backend backend)
    : settings_(std::move(settings)),
      findings_(settings_.group, settings_.ranks, settings_.own),
      backend_(std::move(backend)),
      blame_(*backend_.attendance, settings_.own, static_cast<std::uint32_t>(settings_.ranks.size()),
             settings_.timeout),
      begins_(backend_.transport->begins()),
      queue_(static_cast<std::uint32_t>(settings_.ranks.size())),
      occupied_(queue_.lanes()) {
  for (std::uint32_t member = 0; member < settings_.ranks.size(); ++member) {
    if (member != settings_.own) others_.push_back(member);
  }
}

// Unfinished operations are cancelled.
Engine::~Engine() {
  if (!failure_) give_up();
  queue_.clear();
  backend_.agreement->leave(failure_.has_value());
}

void Engine::take(Operation&& operation) {
  QueuedOperation& queued = queue_.push(std::move(operation));
  if (failure_) return;  // The operation stays unfinished, so wait() throws the failure.
  // If the operation is announced now, the other members can continue with it while this member computes. This does not
  // apply to receiving.
  if (queued.operation.request.kind == OperationKind::kRecv || !queue_.is_next(queued)) return;
  if (!queued.operation.is_message()) {
    announce(queued);
  } else {
    go_on(queued, Effort::kOwnShare);
  }
  queue_.forget_finished();
}

bool Engine::advance(Effort effort) {
  if (failure_ || !broken_.empty()) return false;
  bool moved = false;
  bool announcing = true;
  std::ranges::fill(occupied_, 0);
  for (QueuedOperation& queued : queue_) {
    if (queued.is_finished()) continue;
    const bool is_message = queued.operation.is_message();
    if (!is_message && queued.stage == Stage::kQueued && announcing) moved |= announcing = announce(queued);
    char& occupied = occupied_[queue_.lane_of(queued.operation)];
    if (occupied != 0) continue;
    moved |= go_on(queued, effort);
    if (failure_ || !broken_.empty()) return true;
    occupied = queued.is_finished() ? 0 : 1;
  }
  queue_.forget_finished();
  return moved;
}

// An exception from a library may be caused by a member that is gone or stopped, so the engine looks for such a member
// before it fails.
bool Engine::go_on(QueuedOperation& queued, Effort effort) {
  try {
    return queued.operation.is_message() ? advance_message(queued, effort) : advance_group(queued, effort);
  } catch (const Error& error) {
    fail({error.code(), error.what()});
  } catch (const std::exception& error) {
    library_broke(queued, error.what());
  }
  return true;
}

bool Engine::announce(QueuedOperation& queued) {
  if (queue_.obstacle(queued.operation) != nullptr || !backend_.agreement->announce(queued.operation)) return false;
  queued.stage = Stage::kAnnounced;
  return true;
}

bool Engine::advance_group(QueuedOperation& queued, Effort effort) {
  if (queued.stage == Stage::kQueued) return false;
  const bool has_elements = queued.operation.data.count > 0;
  if (has_elements && queued.transfer == nullptr && begins_ == Begins::kAtOnce) {
    queued.transfer = backend_.transport->begin(queued.operation);
  }
  if (queued.stage == Stage::kAnnounced && !agree(queued)) return false;
  if (!has_elements) {
    queued.stage = Stage::kFinished;
  } else if (!transfer(queued, *backend_.transport, effort)) {
    return false;
  }
  if (queued.is_finished()) backend_.agreement->finished(queued.operation);
  return true;
}

/// Returns true if all members have announced the operation, all with the same kind, size and other arguments. If these
/// differ, the engine fails.
bool Engine::agree(QueuedOperation& queued) {
  const Operation& operation = queued.operation;
  bool same = true;
  for (const std::uint32_t member : others_) {
    const Request* request = backend_.agreement->request_of(member, operation);
    if (request == nullptr) return false;
    same = same && *request == operation.request;
  }
  if (same) {
    queued.stage = Stage::kAgreed;
    return true;
  }
  std::vector<Request> requests(settings_.ranks.size(), operation.request);
  for (const std::uint32_t member : others_) requests[member] = *backend_.agreement->request_of(member, operation);
  fail(findings_.disagreement(operation, requests));
  return false;
}

bool Engine::advance_message(QueuedOperation& queued, Effort effort) {
  if (queued.stage == Stage::kQueued) {
    if (queue_.obstacle(queued.operation) != nullptr) return false;
    queued.stage = Stage::kAgreed;
  }
  return transfer(queued, *backend_.messages, effort);
}

bool Engine::transfer(QueuedOperation& queued, Transport& transport, Effort effort) {
  if (queued.transfer == nullptr) queued.transfer = transport.begin(queued.operation);
  const Progress progress = queued.transfer->advance(effort);
  if (progress == Progress::kFinished) queued.stage = Stage::kFinished;
  return progress != Progress::kNothing;
}

void Engine::library_broke(const QueuedOperation& queued, const std::string& text) {
  broken_ = fmt::format("{} failed: {}", findings_.name(queued.operation), text);
  if (backend_.thread == Thread::kCaller) return fail(findings_.broken({}, broken_));
  blame_.probe();
}

// A failure that was reported before the other members could see that this member is about to sleep has not woken it,
// so the engine checks for failures once more.
bool Engine::rest(std::uint32_t looks, std::chrono::microseconds most) {
  return backend_.agreement->rest({queue_, looks, most}, [this] {
    look_for_news();
    return failure_.has_value() || advance(Effort::kEverything);
  });
}

void Engine::fail(const Failure& failure, bool tell) {
  if (failure_) return;
  failure_ = failure;
  if (tell) backend_.agreement->tell(failure);
  give_up();
}

/// Cancels all operations. Afterwards nothing accesses the memory of operations any more.
void Engine::give_up() {
  if (queue_.empty()) return;
  const QueuedOperation* first = queue_.first_of_group();
  backend_.transport->abort(first == nullptr ? nullptr : first->transfer.get());
}

void Engine::look_for_news() {
  if (failure_) return;
  // This member reports the same text as the member that detected the failure.
  if (const auto told = backend_.agreement->told()) fail(*told, false);
}

void Engine::look(std::optional<std::uint64_t> waited) {
  look_for_news();
  if (!failure_) look_for_lost();
  if (failure_) return;
  if (!broken_.empty() && blame_.had_time()) return fail(findings_.broken(blame_.unanswered(), broken_));
  if (waited) look_at_clock(*waited);
}

/// Returns the members for which the operation waits, or nothing if that is unknown.
std::optional<std::vector<std::uint32_t>> Engine::missing(const QueuedOperation& queued) const {
  if (queued.transfer != nullptr && queued.stage == Stage::kAgreed) return queued.transfer->missing();
  if (queued.operation.is_message()) return std::vector<std::uint32_t>{queued.operation.request.member};
  std::vector<std::uint32_t> members = others_;
  std::erase_if(members, [&](std::uint32_t member) {
    return backend_.agreement->request_of(member, queued.operation) != nullptr;
  });
  return members;
}

std::optional<std::uint32_t> Engine::waits_for(std::uint64_t waited) {
  const QueuedOperation* queued = queue_.find(waited);
  if (queued == nullptr) return {};
  const auto needed = missing(queue_.held_up_by(*queued));
  if (!needed || needed->empty()) return {};
  return needed->front();
}

// A member that detects an error reports it and may then leave immediately. This member may see the report only after
// it has seen that the other member is gone, so it receives and checks once more before it blames that member.
void Engine::look_for_lost() {
  for (QueuedOperation& queued : queue_) {
    if (queued.stage != Stage::kAnnounced && queued.stage != Stage::kAgreed) continue;
    const auto needed = missing(queued);
    Presence how = Presence::kHere;
    std::vector<std::uint32_t> gone;
    for (const std::uint32_t member : needed.value_or(others_)) {
      const Presence presence = backend_.attendance->presence(member);
      // If a transfer cannot tell which members it needs, the loss of any member makes it fail. A member that has left
      // normally does not, because it may have finished the operation.
      if (presence == Presence::kHere || (!needed && presence == Presence::kLeft)) continue;
      how = presence;
      gone.push_back(member);
    }
    if (gone.empty()) continue;
    backend_.agreement->receive();
    look_for_news();
    if (failure_ || advance(Effort::kOwnShare)) return;
    return fail(findings_.gone(gone, how, queued.operation));
  }
}

void Engine::look_at_clock(std::uint64_t waited) {
  const QueuedOperation* queued = queue_.find(waited);
  if (queued == nullptr) return;
  const QueuedOperation& held = queue_.held_up_by(*queued);
  const auto needed = missing(held);
  const bool is_own_turn = needed && needed->empty();
  Answer answer{.waits = true, .waits_for = {}};
  if (needed && !is_own_turn) answer.waits_for = needed->front();
  backend_.attendance->show(answer);
  shows_waiting_ = true;
  if (is_own_turn) return blame_.start_again();
  const std::vector<std::uint32_t>& candidates = needed ? *needed : others_;
  Blame::Signs signs{waited, held.operation.number, static_cast<std::uint64_t>(held.stage) + candidates.size()};
  for (const std::uint32_t member : candidates) signs.count += backend_.attendance->signs(member);
  const auto silent = blame_.look(signs, candidates);
  if (!silent.empty()) fail(findings_.silent(silent, held, settings_.timeout));
}

void Engine::stop_waiting() {
  if (!shows_waiting_) return;
  shows_waiting_ = false;
  blame_.start_again();
  backend_.attendance->show({});
}

}  // namespace trainyard::collectives
