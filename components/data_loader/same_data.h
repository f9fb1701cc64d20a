// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/loop/event_loop.h"
#include "core/rendezvous/rendezvous.h"
#include "datasets/dataset.h"

namespace trainyard {

/// Returns a description of a dataset in two lines: the sizes of its splits, and a fingerprint of a few samples of each
/// split. A split has no fingerprint if its samples cannot be read or differ each time they are read.
std::string describe_data(const Dataset& dataset, const DatasetInfo& info);

/// Checks that all ranks have the same data. The ranks can be on different hosts; if their data differed, each would
/// train on its part of another dataset, and nobody would notice. Rank 0 writes a note about its data. Every other rank
/// compares its own data with the note as soon as the note exists; nobody waits for this. Differences in the sizes are
/// left to the strategy manager, which compares what the data loaders announce.
class SameData {
 public:
  /// `key` is the key of the note. `found` is called with an error if the data differs. `loop` and `notes` must outlive
  /// this object.
  SameData(core::EventLoop& loop, core::Rendezvous& notes, std::string key, std::string own,
           std::function<void(const std::string& objection)> found);
  ~SameData();
  SameData(const SameData&) = delete;
  SameData& operator=(const SameData&) = delete;

 private:
  void look();

  core::EventLoop& loop_;
  core::Rendezvous& notes_;
  std::string key_;
  std::string own_;
  std::function<void(const std::string&)> found_;
  int looks_ = 0;
  std::optional<core::EventLoop::TimerId> timer_;
};

}  // namespace trainyard
