// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/component/input.h"

namespace trainyard {

/// A gate that delays the start of a component until every message that the component needs has arrived, and then calls
/// `begin` once.
///
///    Gate ready_{[this] { begin(); }};
///    Gate::Need restored_{ready_, run_state_};  // Satisfied from the start if the input is optional and unconnected.
///    Gate::Need models_{ready_, "models", [this] { return context().world_size; }};
///
///    void on_model(const ModelInfo& info) { models_.arrived(info.rank); }
///
/// Needs must be members of the component and must be declared after their gate. A gate and its needs are used only on
/// the component's event loop.
class Gate {
 public:
  /// A kind of message that the gate waits for. One such message must arrive from each of one or more senders.
  class Need {
   public:
    /// Requires one message from each of several senders. `wanted` returns the number of senders; it is called again
    /// for every message that arrives. `what` names the messages in errors, in the plural: "models".
    Need(Gate& gate, std::string what, std::function<std::size_t()> wanted);
    /// Requires one message at `input`, from any sender. If the input is optional and not connected, the need is
    /// satisfied from the start. The handler of the input must call arrived().
    Need(Gate& gate, const InputBase& input);
    Need(const Need&) = delete;
    Need& operator=(const Need&) = delete;

    /// Records that the message of `sender` (a rank or a component's index) has arrived. A second message from the same
    /// sender has no effect. If all needs of the gate are now satisfied, the gate opens and calls `begin`.
    void arrived(std::size_t sender = 0);

    /// Returns true if this need is satisfied.
    bool met() const { return senders_.size() >= wanted_(); }

   private:
    friend class Gate;

    Gate& gate_;
    std::string what_;
    std::function<std::size_t()> wanted_;
    std::set<std::size_t> senders_;
  };

  /// `begin` is called inside arrived(), when the last missing message has arrived, so it is never called if no need
  /// requires a message. During the call, open() already returns true.
  explicit Gate(std::function<void()> begin) : begin_(std::move(begin)) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  bool open() const { return open_; }

  /// Describes the messages that have not arrived yet, for errors: "1 of 2 models, 0 of 1 run_state". Returns an empty
  /// string once the gate is open.
  std::string missing() const;

 private:
  void open_if_met();

  std::function<void()> begin_;
  std::vector<const Need*> needs_;
  bool open_ = false;
};

}  // namespace trainyard
