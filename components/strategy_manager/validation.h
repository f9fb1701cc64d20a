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

/// The evaluations of a validation, its last results, and whether they were the best. The saved state is the state of
/// early stopping: the best value, and the number of validations since then.
class Validation final : public Stateful {
 public:
  /// The name of the state in checkpoints.
  static constexpr const char* kState = "early_stopping";

  /// `known` holds the metrics stored in the checkpoint of a resumed run. They are used as the best metrics if the
  /// checkpoint has no state of early stopping. Throws kNotFound for a split that the dataset lacks; a fit without a
  /// split "validate" has no validation.
  Validation(const RunSettings& settings, const RunFacts& facts, const std::vector<Scalar>& known);

  void save_state(StateWriter& into) const override;
  /// Ignores the state if the checkpoint's run watched another metric or split.
  void restore_state(const StateReader& from) override;

  /// One evaluation order of a validation.
  struct Split {
    std::string name;
    std::uint64_t batches = 0;  ///< Always > 0.
  };
  /// Returns the evaluations that make up a validation. The list is empty if this run has no validation.
  const std::vector<Split>& splits() const { return splits_; }

  /// Records the means of one split. `judge` is true for a planned validation, whose result early stopping uses. Throws
  /// kNotFound if early stopping watches a metric that is missing from `metrics`.
  void take(const std::string& split, const std::vector<Scalar>& metrics, bool judge);

  /// Returns the newest results: the metrics of the watched split under their names, and the metrics of other splits as
  /// "split/name".
  std::vector<Scalar> metrics() const;

  /// Returns true if the last planned validation was better than all earlier ones.
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
