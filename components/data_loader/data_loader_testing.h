// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "datasets/dataset.h"
#include "messages/dtype.h"

namespace trainyard::testing {

/// A dataset for tests of the data loader. Sample i of a split consists of the number i, and of 3 bytes with the value
/// i modulo 251. A test can make readers wait (close_gate()), and can make one sample unreadable (`broken`).
class Numbers final : public Dataset {
 public:
  /// The part of the dataset that a test can access after it has passed the dataset to the data loader.
  struct Control {
    std::map<std::string, std::uint64_t> splits{{"train", 100}, {"validate", 25}};
    std::uint64_t broken = ~std::uint64_t{0};
    std::atomic<std::uint64_t> samples_read{0};

    void close_gate() { set_open(false); }
    void open_gate() { set_open(true); }
    void pass() {
      std::unique_lock lock(mutex);
      ++waiting;
      changed.notify_all();
      changed.wait(lock, [this] { return open; });
      --waiting;
    }
    /// Blocks until a reader waits at the closed gate.
    void wait_for_reader() {
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return waiting > 0; });
    }

   private:
    void set_open(bool value) {
      const std::lock_guard lock(mutex);
      open = value;
      changed.notify_all();
    }
    std::mutex mutex;
    std::condition_variable changed;
    bool open = true;
    int waiting = 0;
  };

  Numbers(DatasetContext& context, std::shared_ptr<Control> control) : Dataset(context), control_(std::move(control)) {}

  void open() override {}

  DatasetInfo info() const override {
    DatasetInfo info;
    info.dataset = "numbers";
    for (const auto& [name, samples] : control_->splits) info.splits.push_back({name, samples});
    info.fields = {{"number", static_cast<std::uint8_t>(DType::kInt64), {}},
                   {"bytes", static_cast<std::uint8_t>(DType::kUInt8), {3}}};
    return info;
  }

  void read(std::string_view split, std::uint64_t index, std::span<const std::span<std::byte>> fields) const override {
    control_->pass();
    check_sample(split, index, control_->splits.at(std::string(split)));
    if (index == control_->broken) throw Error(Code::kCorrupt, "numbers.bin at offset {}: broken", index * 8);
    std::memcpy(fields[0].data(), &index, fields[0].size());
    std::memset(fields[1].data(), static_cast<int>(index % 251), fields[1].size());
    ++control_->samples_read;
  }

 private:
  std::shared_ptr<Control> control_;
};

}  // namespace trainyard::testing
