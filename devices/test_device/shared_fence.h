// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>

#include "core/memory/memory_file.h"
#include "devices/fence.h"
#include "messages/buffer.h"

namespace trainyard::test_device {

/// A fence in shared memory. A thread that waits for the fence, in any process that has opened it, sleeps on a futex
/// instead of polling.
class SharedFence final : public devices::Fence {
 public:
  static std::shared_ptr<SharedFence> make();
  /// Opens a fence of another process. The errors are those of core::MemoryFile::open.
  static std::shared_ptr<SharedFence> open(const SharedHandle& handle);
  ~SharedFence() override;

  SharedHandle handle() const { return file_.handle(); }

  std::uint64_t value() const override;
  void signal(std::uint64_t value) override;
  void await(std::uint64_t value, std::chrono::milliseconds limit) const override;

  /// Waits until the fence has reached `value`, and returns true. Returns false if a stop is requested first.
  bool await(std::uint64_t value, const std::stop_token& stop) const;

 private:
  struct Page;

  explicit SharedFence(core::MemoryFile file);
  void sleep_unless(std::uint32_t changes_seen) const;

  core::MemoryFile file_;
  Page* page_ = nullptr;
};

}  // namespace trainyard::test_device
