// SPDX-License-Identifier: Apache-2.0
#include "components/foxglove/errands.h"

#include <utility>
#include <zmq.hpp>

#include "core/loop/quiet_thread.h"
#include "messages/error.h"

namespace trainyard::foxglove {

Errands::Errands(std::string endpoint) : endpoint_(std::move(endpoint)) {
  thread_ = core::quiet_thread("errands", [this] {
    core::lower_priority();
    run();
  });
}

Errands::~Errands() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Errands::post(Errand errand) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= kMost) {
    throw Error(Code::kUnsupported, "{} requests to the run wait already; try again later", waiting_.size());
  }
  waiting_.push_back(std::move(errand));
  changed_.notify_all();
}

bool Errands::next(Errand& errand) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
  if (stop_) return false;
  errand = std::move(waiting_.front());
  waiting_.pop_front();
  return true;
}

// Each errand gets a new connection, so that a late answer to an earlier errand is not mistaken for its answer.
void Errands::run() {
  zmq::context_t context;
  for (Errand errand; next(errand);) {
    try {
      visitors::RegistryClient registry(context, endpoint_);
      errand(registry);
    } catch (const std::exception&) {
    }
  }
}

}  // namespace trainyard::foxglove
