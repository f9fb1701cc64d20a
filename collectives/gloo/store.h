// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <string>
#include <vector>

#include "core/rendezvous/rendezvous.h"

namespace trainyard::collectives {

/// The key-value store that Gloo needs to connect the ranks, implemented with a rendezvous, which stores each value as
/// a file in the run directory (a note). It supports set, get, check and wait; the other functions throw kUnsupported.
class NoteStore final : public c10d::Store {
 public:
  /// The name of every note begins with `prefix`. No call waits longer than `timeout`, even if Gloo requests a longer
  /// wait.
  NoteStore(core::Rendezvous& notes, std::string prefix, std::chrono::milliseconds timeout);

  using c10d::Store::set;
  void set(const std::string& key, const std::vector<uint8_t>& value) override;
  std::vector<uint8_t> get(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override;
  int64_t add(const std::string& key, int64_t value) override;
  bool deleteKey(const std::string& key) override;
  int64_t getNumKeys() override;

 private:
  std::string note_of(const std::string& key) const;

  core::Rendezvous& notes_;
  const std::string prefix_;
};

}  // namespace trainyard::collectives
