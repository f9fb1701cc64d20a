// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/loop/event_loop.h"
#include "core/rendezvous/rendezvous.h"
#include "datasets/dataset.h"

namespace trainyard {

/// Returns a description of a dataset in two lines: the sizes of its splits, and a hash of a few samples of each split.
/// The hash is "-" if the samples cannot be read or differ each time they are read.
std::string describe_data(const Dataset& dataset, const DatasetInfo& info);

/// Checks that this rank has the same data as rank 0. Ranks can be on different hosts, and if their data differed, each
/// would train on a part of a different dataset without anybody noticing. Rank 0 publishes a description of its data in
/// a note (a file that all ranks can read). Training does not wait for the check: while it trains, every other rank
/// looks for the note at regular intervals, for about a minute at most, and compares the descriptions once the note
/// exists. Differences in sizes are not reported here, because the strategy manager (the component that directs the
/// run) compares the sizes.
class SameData {
 public:
  /// Begins to look for the note of rank 0, whose key in `notes` is `key`. Rank 0 publishes the note itself, and
  /// constructs no SameData. `own` is the result of describe_data() on this rank. Calls `found` on the event loop, with
  /// an error text, if the samples differ. `loop` and `notes` must outlive this object.
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
