// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "messages/saved_state.h"

namespace trainyard {

/// Whether a value of a state belongs to the whole run or to one rank.
enum class StateScope : std::uint8_t {
  kRun,  ///< The value is the same on every rank. It is saved once, and every rank of a resumed run gets it.
  /// Every rank has its own value. A rank of a resumed run gets that of the rank with its number, if there was one.
  kRank,
};

/// Collects what an owner needs in order to continue: values and tensors, each under a name.
///
///    into.set("best", best_);
///    into.set("error", error_tensor, StateScope::kRank);
class StateWriter {
 public:
  /// `owner` is the name under which the state is found again.
  StateWriter(std::string owner, std::uint32_t rank) : owner_(std::move(owner)), rank_(rank) {}

  /// Store a value under a name. Numbers are read back exactly, even if they are not finite.
  void set(const std::string& name, double value, StateScope scope = StateScope::kRun);
  void set(const std::string& name, std::uint64_t value, StateScope scope = StateScope::kRun);
  void set(const std::string& name, bool value, StateScope scope = StateScope::kRun);
  void set(const std::string& name, const std::string& text, StateScope scope = StateScope::kRun);
  void set(const std::string& name, const char* text, StateScope scope = StateScope::kRun) {
    set(name, std::string(text), scope);
  }
  /// Stores a tensor. The writer keeps a reference to the bytes, which must not be changed afterwards.
  void set(const std::string& name, Tensor tensor, StateScope scope = StateScope::kRun);
  /// Stores any JSON value, given as text. Throws kInvalidArgument if the text is not JSON.
  void set_json(const std::string& name, const std::string& json, StateScope scope = StateScope::kRun);

  /// Returns everything that was stored, and empties the writer. There is one SavedState for every scope that was used.
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
  /// Finds the state of `owner` on rank `rank`. Throws kCorrupt if its values are not a JSON object.
  StateReader(const RestoredStates& restored, const std::string& owner, std::uint32_t rank);

  /// Returns true if the checkpoint has nothing of this owner for this rank.
  bool empty() const { return values_.empty() && tensors_.empty(); }
  bool has(const std::string& name) const { return values_.contains(name) || tensors_.contains(name); }

  /// Return a value. They throw kCorrupt, naming the checkpoint and the owner, if the value is missing or of another
  /// type.
  double number(const std::string& name) const;
  std::uint64_t count(const std::string& name) const;
  bool flag(const std::string& name) const;
  std::string text(const std::string& name) const;
  std::string json(const std::string& name) const;
  const Tensor& tensor(const std::string& name) const;
  /// Returns a tensor that must have this dtype and shape. Throws kShapeMismatch, naming both, if it does not.
  const Tensor& tensor(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape) const;

  /// Return the step of the checkpoint, and the number of ranks that made it, which is 0 if the checkpoint does not
  /// record it.
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

/// Something whose state checkpoints must contain: what it needs, besides the parameters and the optimizer's blocks, so
/// that a run that is interrupted and resumed continues as if it had not been interrupted.
///
/// Both functions are called between two steps. A component uses a StatePort (core/component/state_port.h), which calls
/// them when a checkpoint is made or restored; a strategy overrides them, and the accelerator host calls them.
class Stateful {
 public:
  virtual ~Stateful() = default;

  /// Stores everything that is needed. A tensor that may change afterwards must be copied.
  virtual void save_state(StateWriter& into) const = 0;

  /// Restores what save_state() has stored. It is not called if the checkpoint has nothing of this owner. If there are
  /// more ranks than before, values that belong to a rank are missing on the new ranks, which must start with fresh
  /// values.
  virtual void restore_state(const StateReader& from) = 0;
};

}  // namespace trainyard
