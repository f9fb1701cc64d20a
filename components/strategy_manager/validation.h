// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "components/strategy_manager/early_stopping.h"
#include "components/strategy_manager/run_facts.h"
#include "components/strategy_manager/run_settings.h"
#include "core/state/state.h"
#include "messages/scalar.h"

namespace trainyard::manager {

/// The validations of a run: which splits they evaluate, and their most recent results. Also decides on early stopping,
/// whose state is saved in checkpoints: the best value, and the number of validations since that value.
class Validation final : public Stateful {
 public:
  /// The name under which checkpoints store the state.
  static constexpr const char* kState = "early_stopping";

  /// `known` contains the metrics in the checkpoint from which the run resumes. If the checkpoint contains no state of
  /// early stopping, they count as the best results. Throws kNotFound for a split that the dataset does not have,
  /// except that in the mode fit, the split "validate" may be missing.
  Validation(const RunSettings& settings, const RunFacts& facts, const std::vector<Scalar>& known);

  void save_state(StateWriter& into) const override;
  /// Ignores the state if early stopping used another metric or split when the checkpoint was saved.
  void restore_state(const StateReader& from) override;

  /// A split that a validation evaluates, with one order.
  struct Split {
    std::string name;
    std::uint64_t batches = 0;  ///< Always > 0.
  };
  /// Returns the splits that a validation evaluates. The list is empty if the run has no validation.
  const std::vector<Split>& splits() const { return splits_; }

  /// Records the metrics of an evaluation of one split. If `judge` is true, as for a planned validation, the metrics
  /// also determine improved() and early stopping, unless these use another split. Throws kNotFound if early stopping
  /// then needs a metric that is missing.
  void take(const std::string& split, const std::vector<Scalar>& metrics, bool judge);

  /// Returns the most recent results. The metrics of the split that early stopping uses have their plain names, and
  /// those of other splits are named "split/name".
  std::vector<Scalar> metrics() const;

  /// Returns true if the most recent planned validation counts as better than all earlier ones (EarlyStopping).
  bool improved() const { return improved_; }
  const EarlyStopping& stopping() const { return stopping_; }

 private:
  void judge(const std::vector<Scalar>& metrics);

  std::string monitor_;
  bool stops_early_;
  std::vector<Split> splits_;
  std::string watched_;  ///< The split whose metrics early stopping uses.
  std::map<std::string, std::vector<Scalar>> results_;
  EarlyStopping stopping_;
  bool improved_ = false;
};

}  // namespace trainyard::manager
