// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "messages/words.h"

namespace trainyard::devices {

/// The reason why bytes are copied between the host and a device.
enum class Purpose : std::uint8_t {
  kBatch,
  kParameters,
  kGradients,
  kState,  ///< The optimizer's state, which is copied when a run begins.
  kSnapshot,
  kReaders,  ///< The arena, which is copied after a step for components that read it in host memory.
};
constexpr auto words_of(Purpose) {
  return words("purpose of a copy", "batch", "parameters", "gradients", "state", "snapshot", "readers");
}
constexpr std::size_t kPurposes = 6;

/// The numbers of bytes that were copied in each direction.
struct LinkCount {
  std::uint64_t to_device = 0;
  std::uint64_t to_host = 0;

  std::uint64_t both() const { return to_device + to_host; }
  friend bool operator==(const LinkCount&, const LinkCount&) = default;
};

/// Counts the bytes that cross the link between the host and a device, by purpose. Thread-safe.
class LinkBytes {
 public:
  void add_to_device(Purpose purpose, std::uint64_t bytes) { place(purpose).to_device += bytes; }
  void add_to_host(Purpose purpose, std::uint64_t bytes) { place(purpose).to_host += bytes; }

  /// Returns the numbers of bytes since this object was made. If copies are being submitted at the same time, some of
  /// them may be counted in one direction only.
  LinkCount of(Purpose purpose) const;
  LinkCount all() const;

 private:
  struct Counters {
    std::atomic<std::uint64_t> to_device{0};
    std::atomic<std::uint64_t> to_host{0};
  };
  Counters& place(Purpose purpose) { return counters_[static_cast<std::size_t>(purpose)]; }

  std::array<Counters, kPurposes> counters_;
};

}  // namespace trainyard::devices
