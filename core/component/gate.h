// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/component/input.h"

namespace trainyard {

/// Delays the start of a component until every message that it needs has arrived, and then calls `begin` once.
///
///    Gate ready_{[this] { begin(); }};
///    Gate::Need restored_{ready_, run_state_};  // Satisfied at once if nothing is connected to this optional input.
///    Gate::Need models_{ready_, "models", [this] { return context().world_size; }};
///
///    void on_model(const ModelInfo& info) { models_.arrived(info.rank); }
///
/// Needs are members of the component and are declared after their gate. Gate and needs are used only on the
/// component's event loop.
class Gate {
 public:
  /// One kind of message that the gate waits for. It may be needed from several senders, once from each.
  class Need {
   public:
    /// Waits until messages from as many senders as `wanted` returns have arrived. `wanted` is called again for every
    /// message. `what` names the messages in errors, in the plural: "models".
    Need(Gate& gate, std::string what, std::function<std::size_t()> wanted);
    /// Waits for the first message at this input, however many senders there are. If the input is optional and nothing
    /// is connected to it, there is nothing to wait for.
    Need(Gate& gate, const InputBase& input);
    Need(const Need&) = delete;
    Need& operator=(const Need&) = delete;

    /// Records that the message of `sender` (a rank or a component's index) has arrived. A second message from the same
    /// sender changes nothing. If this was the last message missing, the gate opens and calls `begin`.
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

  /// `begin` is called inside the handler that receives the last missing message. open() already returns true then.
  explicit Gate(std::function<void()> begin) : begin_(std::move(begin)) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  bool open() const { return open_; }

  /// Describes what has not arrived yet, for errors: "1 of 2 models, 0 of 1 run_state". It is empty once the gate is
  /// open.
  std::string missing() const;

 private:
  void open_if_met();

  std::function<void()> begin_;
  std::vector<const Need*> needs_;
  bool open_ = false;
};

}  // namespace trainyard
