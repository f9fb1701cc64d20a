// SPDX-License-Identifier: Apache-2.0
#include "tests/test_accelerator/card.h"

#include <algorithm>
#include <array>
#include <utility>

#include "messages/error.h"

namespace trainyard::test_accelerator {

using test_device::kDevices;
using test_device::Options;

namespace {

/// The cards of this process, by index.
struct Cards {
  std::mutex mutex;
  std::array<std::weak_ptr<Card>, kDevices> all;
};

/// The object is never destroyed, because LibTorch frees tensors until the very end of a process.
Cards& cards() {
  static auto* all = new Cards;
  return *all;
}

std::size_t in_pages(std::size_t bytes) {
  constexpr std::size_t kGrain = test_device::Memory::kGrain;
  return (bytes + kGrain - 1) / kGrain * kGrain;
}

bool same(const Options& one, const Options& other) {
  return one.memory_bytes == other.memory_bytes && one.link_gb_per_s == other.link_gb_per_s &&
         one.latency_us == other.latency_us;
}

}  // namespace

/// What a tensor holds for as long as it uses a block.
struct Card::Held {
  std::shared_ptr<Card> card;
  BlockPtr block;
};

Card::Card(const Options& options)
    : device_(std::make_shared<test_device::TestDevice>(options)), copies_(*device_, "libtorch") {}

std::shared_ptr<Card> Card::of(int index) {
  Cards& known = cards();
  const std::lock_guard lock(known.mutex);
  std::weak_ptr<Card>& place = known.all.at(static_cast<std::size_t>(index));
  if (std::shared_ptr<Card> card = place.lock()) return card;
  const auto card = std::make_shared<Card>(Options{.index = index});
  place = card;
  return card;
}

std::shared_ptr<Card> Card::with(const Options& options) {
  Cards& known = cards();
  const std::lock_guard lock(known.mutex);
  std::weak_ptr<Card>& place = known.all.at(static_cast<std::size_t>(options.index));
  std::shared_ptr<Card> card = place.lock();
  if (card && !same(card->device()->options(), options)) {
    throw Error(Code::kInvalidArgument, "test_device {} is in use in this process with other options", options.index);
  }
  if (!card) place = card = std::make_shared<Card>(options);
  return card;
}

c10::DataPtr Card::take(std::size_t bytes) {
  const c10::Device where(c10::kPrivateUse1, static_cast<c10::DeviceIndex>(device_->options().index));
  if (bytes == 0) return {nullptr, where};
  const std::size_t size = in_pages(bytes);
  BlockPtr block = free_block(size);
  if (!block) block = new_block(size);
  {
    const std::lock_guard lock(mutex_);
    use_.bytes += size;
    use_.peak_bytes = std::max(use_.peak_bytes, use_.bytes);
  }
  void* address = block->address();
  return {address, new Held{shared_from_this(), std::move(block)}, &release, where};
}

void Card::release(void* held) {
  const std::unique_ptr<Held> owned(static_cast<Held*>(held));
  owned->card->give_back(std::move(owned->block));
}

/// Returns a block that a tensor has freed, or null if there is none of this size.
Card::BlockPtr Card::free_block(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  std::vector<BlockPtr>& blocks = free_[bytes];
  if (blocks.empty()) return nullptr;
  BlockPtr block = std::move(blocks.back());
  blocks.pop_back();
  return block;
}

Card::BlockPtr Card::new_block(std::size_t bytes) {
  try {
    return device_->allocate(bytes, "a tensor of LibTorch");
  } catch (const Error& error) {
    if (error.code() != Code::kUnsupported) throw;
  }
  {
    const std::lock_guard lock(mutex_);
    free_.clear();
  }
  return device_->allocate(bytes, "a tensor of LibTorch");
}

void Card::give_back(BlockPtr block) {
  const std::lock_guard lock(mutex_);
  const std::size_t size = block->bytes();
  use_.bytes -= size;
  free_[size].push_back(std::move(block));
}

void Card::copy_over_link(const char* what, std::size_t bytes, const std::function<void()>& copy) {
  copies_.copy_for_library(what, bytes, copy);
}

Card::Use Card::use() const {
  const std::lock_guard lock(mutex_);
  return use_;
}

}  // namespace trainyard::test_accelerator
