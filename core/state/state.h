// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "messages/saved_state.h"

namespace trainyard {

/// Says to whom a value of a state belongs.
enum class StateScope : std::uint8_t {
  kRun,   ///< It is the same on every rank. It is saved once, and every rank of a resumed run gets it.
  kRank,  ///< Every rank has its own. A rank of a resumed run gets that of the rank with its number, if there was one.
};

/// Takes down what an owner needs in order to continue: values and tensors, each under a name.
///
///    into.set("best", best_);
///    into.set("error", error_tensor, StateScope::kRank);
class StateWriter {
 public:
  /// `owner` is the name under which the state is found again.
  StateWriter(std::string owner, std::uint32_t rank) : owner_(std::move(owner)), rank_(rank) {}

  /// Numbers are read back exactly, also those that are not finite.
  void set(const std::string& name, double value, StateScope scope = StateScope::kRun);
  void set(const std::string& name, std::uint64_t value, StateScope scope = StateScope::kRun);
  void set(const std::string& name, bool value, StateScope scope = StateScope::kRun);
  void set(const std::string& name, const std::string& text, StateScope scope = StateScope::kRun);
  void set(const std::string& name, const char* text, StateScope scope = StateScope::kRun) {
    set(name, std::string(text), scope);
  }
  /// Keeps a reference to the bytes, which must not be changed afterwards.
  void set(const std::string& name, Tensor tensor, StateScope scope = StateScope::kRun);
  /// Sets any JSON value, given as text. Throws kInvalidArgument if it is none.
  void set_json(const std::string& name, const std::string& json, StateScope scope = StateScope::kRun);

  /// Returns what was set, and is empty afterwards. There is one SavedState for every scope that was used.
  std::vector<SavedState> take();

 private:
  struct Part {
    std::map<std::string, std::string> values;  ///< As JSON.
    std::vector<StateTensor> tensors;
  };

  std::string owner_;
  std::uint32_t rank_;
  std::map<StateScope, Part> parts_;
};

/// Reads the state that an owner had when a checkpoint was made.
class StateReader {
 public:
  /// Finds the state of `owner` on rank `rank`. Throws kCorrupt if its values are no JSON object.
  StateReader(const RestoredStates& restored, const std::string& owner, std::uint32_t rank);

  /// Returns true if the checkpoint has nothing of this owner for this rank.
  bool empty() const { return values_.empty() && tensors_.empty(); }
  bool has(const std::string& name) const { return values_.contains(name) || tensors_.contains(name); }

  /// Return a value. They throw kCorrupt, naming the checkpoint and the owner, if it is missing or of another type.
  double number(const std::string& name) const;
  std::uint64_t count(const std::string& name) const;
  bool flag(const std::string& name) const;
  std::string text(const std::string& name) const;
  std::string json(const std::string& name) const;
  const Tensor& tensor(const std::string& name) const;
  /// Returns a tensor that must have this dtype and shape. Throws kShapeMismatch, naming both, if it does not.
  const Tensor& tensor(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape) const;

  /// Returns the step of the checkpoint, and the number of ranks that made it; 0 if it does not say.
  std::uint64_t step() const { return step_; }
  std::uint32_t ranks() const { return ranks_; }

 private:
  std::string where() const;

  std::string path_, owner_;
  std::uint64_t step_;
  std::uint32_t ranks_;
  std::map<std::string, std::string> values_;  ///< As JSON.
  std::map<std::string, Tensor> tensors_;
};

/// Something that has state which a checkpoint must keep: what it needs, besides the parameters and the optimizer's
/// blocks, so that a run that is interrupted and resumed goes on as if it had not been interrupted.
///
/// Both functions are called between two steps. A component uses a StatePort (core/component/state_port.h), which calls
/// them when a checkpoint is made or restored; a strategy overrides them, and the accelerator host calls them.
class Stateful {
 public:
  virtual ~Stateful() = default;

  /// Sets everything that is needed; copies it if it may change afterwards.
  virtual void save_state(StateWriter& into) const = 0;

  /// Takes back what save_state() has set. It is not called if the checkpoint has nothing of this owner. With another
  /// number of ranks than before, what belongs to a rank is missing on new ranks; then begin it anew.
  virtual void restore_state(const StateReader& from) = 0;
};

}  // namespace trainyard
