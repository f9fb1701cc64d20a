// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/loop/event_loop.h"
#include "core/rendezvous/rendezvous.h"
#include "datasets/dataset.h"

namespace trainyard {

/// Returns what a dataset contains, as two lines: the sizes of its splits, and a fingerprint of a few samples of each.
/// A split whose samples are not the same each time they are read, or cannot be read, has no fingerprint.
std::string describe_data(const Dataset& dataset, const DatasetInfo& info);

/// The check that all ranks have the same data, although they can be on different hosts: each would train with its
/// part of another dataset, and nobody would notice. Rank 0 leaves a note about its data, and every other rank compares
/// its own with it as soon as the note is there. Nobody waits for this. Data of other sizes is left to the strategy
/// manager, which compares what the data loaders announce.
class SameData {
 public:
  /// `key` names the note, and `found` is called with an error if the data differs. `loop` and `notes` must outlive
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
