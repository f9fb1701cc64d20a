// SPDX-License-Identifier: Apache-2.0
#include "viewer/errands.h"

#include <exception>
#include <utility>

#include "core/loop/quiet_thread.h"

namespace trainyard::viewer {

Errands::Errands(std::string registry)
    : registry_(std::move(registry)), thread_(core::quiet_thread("errands", [this] { work(); })) {}

Errands::~Errands() {
  stop();
  thread_.join();
}

void Errands::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
}

bool Errands::post(Errand errand) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= kMaxWaiting || stop_) return false;
  waiting_.push_back(std::move(errand));
  changed_.notify_all();
  return true;
}

void Errands::work() {
  zmq::context_t context;
  for (;;) {
    Errand next;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
      if (stop_) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    try {
      // Each errand has a new client, so that it cannot receive a late answer to a previous errand.
      visitors::RegistryClient registry(context, registry_);
      registry.cancel_when([this] { return stop_.load(); });
      next(registry);
    } catch (const std::exception&) {
      // The errand itself must report errors to the page.
    }
  }
}

}  // namespace trainyard::viewer
