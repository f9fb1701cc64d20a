// SPDX-License-Identifier: Apache-2.0
#include "core/transport/visitor_ledger.h"

#include <algorithm>

namespace trainyard::core {
namespace {

/// The data that must be kept until libzmq releases a frame: the counters from which the frame's bytes are then
/// subtracted, and the owner of the frame's memory.
struct Charge {
  std::shared_ptr<std::atomic<std::uint64_t>> unread;
  std::shared_ptr<std::atomic<std::uint64_t>> all;
  std::shared_ptr<const void> owner;
  std::uint64_t bytes;
};

}  // namespace

std::uint64_t VisitorLedger::free() const { return kBytes - std::min(kBytes, all_->unread()); }

bool VisitorLedger::has_room(const VisitorAccount& account) const { return account.unread() < free() / 2; }

bool VisitorLedger::fits(const VisitorAccount& account, std::uint64_t bytes) const {
  return account.unread() + bytes <= free() / 2 || all_->unread() == 0;
}

// libzmq calls the lambda on its own thread, perhaps after the visitor's subscriptions have ended.
zmq::message_t VisitorLedger::frame(const std::shared_ptr<VisitorAccount>& account, std::shared_ptr<const void> owner,
                                    const void* data, std::size_t size, std::uint64_t charged) const {
  // The pointers refer to the counters but share the ownership of the accounts, which keeps the counters alive.
  auto* charge = new Charge{{account, &account->unread_}, {all_, &all_->unread_}, std::move(owner), charged};
  charge->unread->fetch_add(charged, std::memory_order_relaxed);
  charge->all->fetch_add(charged, std::memory_order_relaxed);
  return {const_cast<void*>(data), size,
          [](void*, void* hint) {
            const std::unique_ptr<Charge> done(static_cast<Charge*>(hint));
            done->unread->fetch_sub(done->bytes, std::memory_order_relaxed);
            done->all->fetch_sub(done->bytes, std::memory_order_relaxed);
          },
          charge};
}

}  // namespace trainyard::core
