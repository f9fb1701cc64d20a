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
  kState,  ///< The parameters, the buffers and the optimizer's state, which are copied when a run begins.
  kSnapshot,
  kReaders,      ///< The parameters and buffers, for components that read them in host memory after a step.
  kCollectives,  ///< Values that ranks exchange through host memory.
};
constexpr auto words_of(Purpose) {
  return words("purpose of a copy", "batch", "parameters", "gradients", "state", "snapshot", "readers", "collectives");
}
constexpr std::size_t kPurposes = 7;

/// The number of bytes that were copied in each direction.
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

  /// Returns the number of bytes of all copies that have been submitted for this purpose since this object was created.
  /// Copies that are being submitted at this moment may or may not be included.
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
