// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/name_lookup.h"

#include <mutex>
#include <thread>
#include <utility>

namespace trainyard::launch {

/// What the thread and the object have in common; the last of them destroys it.
struct NameLookup::Shared {
  std::mutex mutex;
  std::optional<std::string> address;
  std::exception_ptr error;
};

NameLookup::NameLookup(const std::string& host, Resolve resolve) : shared_(std::make_shared<Shared>()) {
  std::thread([shared = shared_, host, resolve = std::move(resolve)] {
    std::optional<std::string> address;
    std::exception_ptr error;
    try {
      address = resolve(host);
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(shared->mutex);
    shared->address = std::move(address);
    shared->error = error;
  }).detach();
}

std::optional<std::string> NameLookup::result() const {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->error) std::rethrow_exception(shared_->error);
  return shared_->address;
}

}  // namespace trainyard::launch
