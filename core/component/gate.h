#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/component/input.h"

namespace trainyard {

/// Holds a component's beginning back until everything that it needs has come, and then begins, once.
///
///     Gate ready_{[this] { begin(); }};
///     Gate::Need restored_{ready_, run_state_};  // Met at once if nobody is connected to this optional input.
///     Gate::Need models_{ready_, "models", [this] { return context().world_size; }};
///
///     void on_model(const ModelInfo& info) { models_.arrived(info.rank); }
///
/// Needs are members of the component and come after their gate. All of it runs on the component's event loop.
class Gate {
 public:
  /// One of the things that are waited for. It may have to come from several senders, once from each.
  class Need {
   public:
    /// Waits for as many senders as `wanted` says, which is asked whenever something arrives. `what` is a plural for
    /// errors, such as "models".
    Need(Gate& gate, std::string what, std::function<std::size_t()> wanted);
    /// Waits for the first message at this input. An optional input that nobody sends to is not waited for.
    Need(Gate& gate, const InputBase& input);
    Need(const Need&) = delete;
    Need& operator=(const Need&) = delete;

    /// Records that it has come from `sender` (a rank or a component's index). The same sender again changes nothing.
    /// If this was the last thing missing, the gate opens and so begins.
    void arrived(std::size_t sender = 0);

    bool met() const { return senders_.size() >= wanted_(); }

   private:
    friend class Gate;

    Gate& gate_;
    std::string what_;
    std::function<std::size_t()> wanted_;
    std::set<std::size_t> senders_;
  };

  /// The handler whose message was the last one missing calls `begin`; open() is true by then.
  explicit Gate(std::function<void()> begin) : begin_(std::move(begin)) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  bool open() const { return open_; }

  /// What has not come yet, for errors: "1 of 2 models, 0 of 1 run_state". It is empty once the gate is open.
  std::string missing() const;

 private:
  void open_if_met();

  std::function<void()> begin_;
  std::vector<const Need*> needs_;
  bool open_ = false;
};

}  // namespace trainyard
