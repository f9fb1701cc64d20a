// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "recordings/recorder.h"
#include "visitors/watch.h"

namespace trainyard::recordings {

/// Specifies what is recorded of a running launch, and to which files.
struct RunRecordingOptions {
  /// Names or patterns, as for visitors::Watch; empty for all topics except those of spans.
  std::vector<std::string> topics;
  std::vector<std::string> exclude;  ///< Names or patterns of topics that are not recorded.
  bool payloads = false;             ///< True to record the bytes of tensors, too.
  Recorder::Options files;           ///< RunRecording sets `component_name`, and adds its own facts to `run`.
};

/// Records a running launch: it attaches as a visitor (a program outside of the plan) and passes the messages that it
/// receives to a Recorder. It never slows training down; messages that it misses are counted. Only one thread may use
/// it.
class RunRecording {
 public:
  /// Subscribes to the topics, and creates the file. Throws what the constructors of Watch and Recorder throw, and
  /// kInvalidArgument if every topic is excluded.
  RunRecording(zmq::context_t& context, visitors::RunInfo run, RunRecordingOptions options);

  /// Records arriving messages until `time` has passed or the run has ended. Returns false if none arrived. Throws kIo
  /// if the disk is full, and kCorrupt if a publisher sends a malformed message. After an exception, nothing more can
  /// be recorded.
  bool record_for(std::chrono::milliseconds time);

  /// Returns true when the run has ended.
  bool ended() const { return watch_.ended(); }
  /// Returns true when every publisher has accepted the subscriptions.
  bool subscribed() const { return watch_.subscribed(); }

  /// Writes the counts and closes the file. `ended` is the reason why the recording ends; an empty string means that
  /// the run has ended.
  void finish(const std::string& ended = "");

  const Recorder& recorder() const { return *recorder_; }

 private:
  const std::shared_ptr<const Feed>& feed_of(const visitors::Received& message);
  void learn_names();
  // Waits for a message, and records it and the messages that have arrived after it. Returns false if none arrived in
  // time.
  bool take_batch(std::chrono::milliseconds deadline);
  void take(const visitors::Received& message);

  zmq::context_t& context_;
  visitors::Watch watch_;
  std::map<std::uint32_t, std::string> components_;  ///< The names of the components, by their indices in the plan.
  std::string description_;                          ///< The value for kComponentsKey.
  std::map<std::string, std::string> processes_;  ///< The names of the processes, by the addresses of their gateways.
  std::map<std::pair<const visitors::Stream*, std::string>, std::shared_ptr<const Feed>> feeds_;
  std::unique_ptr<Recorder> recorder_;
};

}  // namespace trainyard::recordings
