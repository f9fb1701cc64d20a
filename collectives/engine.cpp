#include "collectives/engine.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cstring>

namespace trainyard {
namespace {

using namespace std::chrono_literals;

/// How long the engine sleeps at most: it looks at the clock only while operations are under way.
constexpr auto kBusySleep = 50ms;
constexpr auto kIdleSleep = 2000ms;
/// How long others may take to read the last messages; of a group that has failed, one may be stopped.
constexpr auto kLeave = 5000ms;
constexpr auto kLeaveInAnger = 300ms;

bool is_direct(const Operation& operation) {
  return operation.request.kind == OperationKind::kSend || operation.request.kind == OperationKind::kRecv;
}

/// Operations of one lane run one after the other.
std::pair<int, std::uint32_t> lane_of(const Operation& operation) {
  if (!is_direct(operation)) return {0, 0};
  return {operation.request.kind == OperationKind::kSend ? 1 : 2, operation.request.member};
}

bool overlap(const Elements& a, const Elements& b) {
  const auto begin = [](const Elements& e) { return reinterpret_cast<std::uintptr_t>(e.data); };
  return begin(a) < begin(b) + b.bytes() && begin(b) < begin(a) + a.bytes();
}

}  // namespace

Engine::Engine(const CollectiveContext& context, std::unique_ptr<Mesh> mesh, std::unique_ptr<DataPlane> plane)
    : context_(context), mesh_(std::move(mesh)), plane_(std::move(plane)) {
  // Signals are for threads that expect them: here they would interrupt system calls of libraries.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Engine::~Engine() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  mesh_->wake();
  thread_.join();
}

std::uint64_t Engine::ask(Operation operation) {
  std::uint64_t number;
  {
    const std::lock_guard lock(mutex_);
    number = next_number_++;
    operation.number = number;
    operation.common_number = common_numbers_[lane_of(operation)]++;
    unfinished_.insert(number);
    asked_.push_back(std::move(operation));
  }
  mesh_->wake();
  return number;
}

void Engine::wait(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  waiting_ = {number, Clock::now()};
  changed_.wait(lock, [&] { return failure_.has_value() || !unfinished_.contains(number); });
  waiting_.reset();
  if (unfinished_.contains(number)) throw Error(failure_->code, "{}: {}", context_.where, failure_->finding);
}

bool Engine::done(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  return failure_.has_value() || !unfinished_.contains(number);
}

void Engine::run() {
  try {
    while (go_on()) {
    }
  } catch (const std::exception& error) {
    fail(Code::kIo, fmt::format("the engine of group '{}' cannot go on: {}", context_.name, error.what()));
  }
  abandon();
  mesh_->leave(failure_ ? kLeaveInAnger : kLeave);
  plane_.reset();
}

// One round; false when it was the last one.
bool Engine::go_on() {
  take_asked();
  if (stop_) return false;
  mesh_->receive();
  while (advance_all()) {
  }
  look_for_news();
  look_for_lost();
  look_at_clock();
  if (!active_.empty() && plane_->must_be_polled()) {
    mesh_->sleep(0ms);
    std::this_thread::sleep_for(20us);
  } else {
    mesh_->sleep(active_.empty() ? kIdleSleep : kBusySleep);
  }
  return true;
}

// After a failure, what is asked for stays unfinished: to wait for it throws.
void Engine::take_asked() {
  const std::lock_guard lock(mutex_);
  for (Operation& operation : asked_) {
    if (!failure_) active_.push_back({.operation = std::move(operation)});
  }
  asked_.clear();
}

// True if something was finished: what waited for it may start now.
bool Engine::advance_all() {
  for (auto active = active_.begin(); active != active_.end(); ++active) {
    if (!active->started) {
      if (blocker_of(*active) != nullptr) continue;
      start(*active);
    }
    bool finished = false;
    try {
      finished = broken_.empty() && advance(*active);
    } catch (const Error& error) {
      fail(error.code(), error.what());
      return false;
    } catch (const std::exception& error) {
      transfer_broke(*active, error.what());
    }
    if (!finished) continue;
    const std::uint64_t number = active->operation.number;
    active_.erase(active);
    finish(number);
    return true;
  }
  return false;
}

const Engine::Active* Engine::blocker_of(const Active& active) const {
  for (const Active& earlier : active_) {
    if (&earlier == &active) return nullptr;
    if (lane_of(earlier.operation) == lane_of(active.operation)) return &earlier;
    if (overlap(earlier.operation.data, active.operation.data)) return &earlier;
  }
  return nullptr;
}

void Engine::start(Active& active) {
  active.started = true;
  active.since = Clock::now();
  const Operation& operation = active.operation;
  if (is_direct(operation)) return;
  for (const std::uint32_t member : others()) {
    mesh_->send(member, {Tag::kAsked, 0, operation.common_number}, operation.request);
  }
  if (operation.request.kind == OperationKind::kBarrier || operation.data.count == 0) return;
  active.transfer = plane_->begin(operation);
}

bool Engine::advance(Active& active) {
  if (is_direct(active.operation)) return advance_direct(active);
  if (!active.agreed && !agree(active)) return false;
  return active.transfer == nullptr || active.transfer->advance();
}

bool Engine::advance_direct(Active& active) {
  const Operation& operation = active.operation;
  const Request& request = operation.request;
  const Tag tag{Tag::kDirect, 0, operation.common_number};
  const std::span bytes(operation.at(0), operation.data.bytes());
  if (request.kind == OperationKind::kSend) {
    mesh_->send(request.member, tag, request, bytes);
    return true;
  }
  const auto parcel = mesh_->take(request.member, tag);
  if (!parcel) return false;
  if (parcel->request.dtype != request.dtype || parcel->request.count != request.count ||
      parcel->body.size() != bytes.size()) {
    throw Error(Code::kShapeMismatch, "rank {} sent {}[{}] to rank {}, which asked for {}[{}]",
                context_.ranks[request.member], name_of(parcel->request.dtype), parcel->request.count, context_.rank,
                name_of(request.dtype), request.count);
  }
  if (!bytes.empty()) std::memcpy(bytes.data(), parcel->body.data(), bytes.size());
  return true;
}

bool Engine::agree(Active& active) {
  if (!missing(active).empty()) return false;
  const std::uint64_t number = active.operation.common_number;
  std::vector<Request> requests(mesh_->size(), active.operation.request);
  for (const std::uint32_t member : others()) requests[member] = mesh_->take(member, {Tag::kAsked, 0, number})->request;
  const std::string text = disagreement(requests, context_.ranks);
  if (!text.empty()) {
    throw Error(Code::kShapeMismatch, "operation {} of group '{}': {}", number, context_.name, text);
  }
  active.agreed = true;
  return true;
}

// At most one transfer is under way.
void Engine::abandon() {
  Transfer* under_way = nullptr;
  for (const Active& active : active_) {
    if (active.transfer) under_way = active.transfer.get();
  }
  if (!active_.empty()) plane_->abort(under_way);
  active_.clear();
}

void Engine::finish(std::uint64_t number) {
  pinged_.reset();
  const std::lock_guard lock(mutex_);
  unfinished_.erase(number);
  changed_.notify_all();
}

std::vector<std::uint32_t> Engine::others() const {
  std::vector<std::uint32_t> members;
  for (std::uint32_t member = 0; member < mesh_->size(); ++member) {
    if (member != mesh_->own()) members.push_back(member);
  }
  return members;
}

}  // namespace trainyard
