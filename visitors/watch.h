// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "visitors/gateway_link.h"
#include "visitors/registry_client.h"
#include "visitors/run_info.h"
#include "visitors/stream.h"

namespace trainyard::visitors {

/// Listens to topics of a run as a visitor, that is, a program that is not part of the plan and never slows training
/// down. It subscribes at every process that publishes these topics, including processes that are still starting or are
/// started again later. Only one thread may use it.
///
///     Watch watch(context, find_run("mnist"), {"/metrics"});
///     while (true) {
///       if (const auto message = watch.next(1s)) {
///         print(json_from_binary(message->stream->schema, message->bytes()));
///       } else if (watch.ended()) {
///         break;
///       }
///     }
class Watch {
 public:
  /// Listens to the topics that match one of `patterns`: a name, whose leading slash may be missing, or a pattern in
  /// which `*` stands for any characters. Without patterns, it listens to all topics except those of spans (records of
  /// what components did, and when). Throws kNotFound, with the most similar topic, if one of the patterns matches no
  /// topic, and kTimeout if the launcher does not answer.
  Watch(zmq::context_t& context, RunInfo run, const std::vector<std::string>& patterns, ListenOptions options = {});

  /// Returns the next message, or nothing if none arrives within `deadline` or no more messages can arrive. Takes
  /// messages from the processes in turn, so that a busy process does not hide the others. Throws kCorrupt if a
  /// publisher sends a malformed message, kNotFound if it refuses a subscription, and kPeerLost if a front door no
  /// longer answers.
  std::optional<Received> next(std::chrono::milliseconds deadline);

  /// Returns true when no more messages can arrive: every publisher has announced this, or the launcher has died. In
  /// the second case, next() may still return messages that had arrived before.
  bool ended() const { return ended_; }
  /// Returns true if the launcher was probably killed; cut_off() is then true as well. This is inferred from two facts:
  /// the connection to a publisher was lost before the publisher had announced the end of its messages, and the
  /// launcher was already dead by then. (The kernel kills the processes of a run as soon as their launcher dies.)
  bool killed() const { return killed_; }
  /// Returns true if the run has ended and a publisher has not announced the end of its messages, because the publisher
  /// was killed or has crashed. The last messages of this publisher may be missing.
  bool cut_off() const { return cut_off_; }

  /// Returns true when every publisher has accepted the subscriptions. From then on, Stream::missed counts messages
  /// that are lost.
  bool subscribed() const;

  /// Returns the number of connections to publishers that are lost at the moment, although the launcher is alive.
  std::size_t lost() const { return lost_.size(); }

  const RunInfo& run() const { return run_; }
  /// Returns the topics to which this object listens, with their counts of messages. References to them stay valid.
  const std::deque<Stream>& streams() const { return streams_; }

 private:
  using Clock = std::chrono::steady_clock;

  // Chooses the streams from the registry's list of topics.
  void choose(const nlohmann::json& topics, const std::vector<std::string>& patterns);
  // Connects to the processes whose addresses have become known. `topics` is the registry's answer.
  void connect(const nlohmann::json& topics);
  // Removes the links to processes that are being started again, or were started again at other addresses: those that
  // are disconnected and whose addresses are not in `endpoints`.
  void drop_links_elsewhere(const std::set<std::string>& endpoints);
  // Asks the registry again while the address of a publisher is missing or a process cannot be reached.
  void refresh();
  void check_end();
  void notice_lost_links();
  std::optional<Received> take_in_turn();
  void wait(std::chrono::milliseconds limit);

  zmq::context_t& context_;
  RunInfo run_;
  ListenOptions options_;
  RegistryClient registry_;
  std::deque<Stream> streams_;
  std::vector<std::unique_ptr<GatewayLink>> links_;
  /// The subscriptions that have been made so far, by endpoint and topic.
  std::set<std::pair<std::string, const Stream*>> connected_;
  bool complete_ = false;  ///< True once the address of every publisher is known.
  std::optional<std::uint64_t> question_;
  Clock::time_point next_question_{}, next_check_{};
  std::set<const GatewayLink*> lost_;  ///< Links that were disconnected while the launcher was alive.
  std::size_t turn_ = 0;
  bool ended_ = false;
  bool killed_ = false;
  bool cut_off_ = false;
};

}  // namespace trainyard::visitors
