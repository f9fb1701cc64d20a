// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "messages/saved_state.h"

namespace trainyard {

/// The scope of a value in a state: the whole run, or one rank.
enum class StateScope : std::uint8_t {
  /// The value is the same on every rank. The value of rank 0 is saved, and every rank of a resumed run gets it.
  kRun,
  /// Every rank has its own value. In a resumed run, a rank gets the value that the rank with the same number had, if
  /// there was such a rank.
  kRank,
};

/// A collector of the state of one owner, such as a component or a strategy. The state consists of values and tensors,
/// each stored under a name.
///
///    into.set("best", best_);
///    into.set("error", error_tensor, StateScope::kRank);
class StateWriter {
 public:
  /// Makes a writer for the state of `owner` on rank `rank`. To read the state, a StateReader must have the same owner
  /// and, for values of the scope kRank, the same rank.
  StateWriter(std::string owner, std::uint32_t rank) : owner_(std::move(owner)), rank_(rank) {}

  /// These functions store a value under a name, and replace an earlier value of the same name and scope. Use each name
  /// in one scope only, because a StateReader does not distinguish the scopes. Numbers are read back exactly, even if
  /// they are not finite.
  void set(const std::string& name, double value, StateScope scope = StateScope::kRun);
  void set(const std::string& name, std::uint64_t value, StateScope scope = StateScope::kRun);
  void set(const std::string& name, bool value, StateScope scope = StateScope::kRun);
  void set(const std::string& name, const std::string& text, StateScope scope = StateScope::kRun);
  void set(const std::string& name, const char* text, StateScope scope = StateScope::kRun) {
    set(name, std::string(text), scope);
  }
  /// Stores a tensor. Store only one under each name, because a second one would not replace the first. The writer
  /// keeps a reference to the bytes, which must not be changed afterwards.
  void set(const std::string& name, Tensor tensor, StateScope scope = StateScope::kRun);
  /// Stores any JSON value, given as text. Throws kInvalidArgument if the text is not JSON.
  void set_json(const std::string& name, const std::string& json, StateScope scope = StateScope::kRun);

  /// Returns everything that was stored, as one SavedState for each scope that was used, and empties the writer.
  std::vector<SavedState> take();

 private:
  struct Part {
    std::map<std::string, std::string> values;  ///< The JSON text of each value, by name.
    std::vector<StateTensor> tensors;
  };

  std::string owner_;
  std::uint32_t rank_;
  std::map<StateScope, Part> parts_;
};

/// A reader of the state that an owner had when a checkpoint was made.
class StateReader {
 public:
  /// Finds the state of `owner` in `restored`: everything with the scope kRun, and everything with the scope kRank that
  /// belongs to the rank `rank`. Throws kCorrupt if the values are not a JSON object.
  StateReader(const RestoredStates& restored, const std::string& owner, std::uint32_t rank);

  /// Returns true if the checkpoint contains no state of this owner, neither for the whole run nor for this rank.
  bool empty() const { return values_.empty() && tensors_.empty(); }
  bool has(const std::string& name) const { return values_.contains(name) || tensors_.contains(name); }

  /// These functions return the value or tensor stored under `name`. json() returns a value of any type, as JSON text.
  /// If there is no such value or it has another type, the functions throw kCorrupt, naming the checkpoint and the
  /// owner.
  double number(const std::string& name) const;
  std::uint64_t count(const std::string& name) const;
  bool flag(const std::string& name) const;
  std::string text(const std::string& name) const;
  std::string json(const std::string& name) const;
  const Tensor& tensor(const std::string& name) const;
  /// Returns the tensor stored under `name`, which must have this dtype and shape. If there is no such tensor, throws
  /// kCorrupt. If its dtype or shape differs, throws kShapeMismatch with the expected and the actual dtype and shape.
  const Tensor& tensor(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape) const;

  /// Returns the step of the checkpoint.
  std::uint64_t step() const { return step_; }
  /// Returns the number of ranks of the run that made the checkpoint; 0 if the checkpoint does not record it.
  std::uint32_t ranks() const { return ranks_; }

 private:
  std::string where() const;

  std::string path_, owner_;
  std::uint64_t step_;
  std::uint32_t ranks_;
  std::map<std::string, std::string> values_;  ///< The JSON text of each value, by name.
  std::map<std::string, Tensor> tensors_;
};

/// An object whose state is part of every checkpoint, such as a model or a strategy. A checkpoint also contains the
/// parameters and buffers of the model, and the optimizer's state. With all of this, a resumed run continues as if it
/// had not been interrupted.
///
/// Both functions are called while no step is in progress. Those of models and strategies are called by the accelerator
/// host (the component that computes losses and gradients). A component is not Stateful but has a StatePort
/// (core/component/state_port.h).
class Stateful {
 public:
  virtual ~Stateful() = default;

  /// Stores the state in `into`. An override must copy any tensor that may change afterwards.
  virtual void save_state(StateWriter& into) const = 0;

  /// Restores what save_state() stored. Not called if the checkpoint contains no state of this object. If the resumed
  /// run has more ranks than the earlier run, the additional ranks have no values of the scope kRank, and must start
  /// with initial values.
  virtual void restore_state(const StateReader& from) = 0;
};

}  // namespace trainyard
