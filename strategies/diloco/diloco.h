// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "messages/words.h"
#include "strategies/diloco/exchange.h"
#include "strategies/local_steps.h"

namespace trainyard {

/// The form in which the ranks of `diloco` send each other the changes of their parameters.
enum class ChangeForm : std::uint8_t {
  kFull,  ///< Not rounded: float32 or a wider type.
  kBf16,  ///< Rounded to bfloat16.
};
constexpr auto words_of(ChangeForm) { return words("form of changes", "none", "bf16"); }

/// DiLoCo: every rank makes many steps alone, with its own (inner) optimizer. Then the mean of the ranks' changes to
/// the parameters serves as the gradient of an outer optimizer, SGD with Nesterov momentum. All ranks continue with the
/// parameters of the outer optimizer, which are called the anchor.
///
/// With `overlap_steps` = n, an exchange runs in the background while the ranks make n further steps. Every rank then
/// waits for the result and makes the step of the outer optimizer. The rank then continues from a mixture of the anchor
/// and its own parameters, because its own parameters contain the steps that it has made in the meantime. The result
/// does not depend on timing. The next changes are relative to the new anchor.
///
/// The anchor and the outer momentum are the same on every rank. Each rank keeps both, which takes twice the memory of
/// the parameters. A checkpoint contains the momentum, and the anchor unless it is equal to the parameters in the
/// checkpoint. If a checkpoint is saved during an exchange, saving waits for the result of the exchange, which the
/// checkpoint then contains; the resumed run uses the result at the same step as the run that saved the checkpoint. The
/// inner optimizer's state stays with its rank.
///
/// Sources: Douillard et al., "DiLoCo: Distributed Low-Communication Training of Language Models" (2023); Douillard et
/// al., "Streaming DiLoCo with overlapping communication" (2025).
class Diloco final : public LocalSteps {
 public:
  explicit Diloco(StrategyContext& context);

  void save_state(StateWriter& into) const override;
  void restore_state(const StateReader& from) override;

 protected:
  void synchronise(ArenaEdit& edit) override;
  void unite(ArenaEdit& edit) override;
  void exchange(std::uint64_t step, ArenaEdit& edit) override;
  void go_on(std::uint64_t step, ArenaEdit& edit) override;

 private:
  bool overlaps() const { return *overlap_steps_ > 0; }
  void allocate_exchange();
  void begin_exchange(ArenaEdit& edit);
  void end_exchange(ArenaEdit& edit, double local_share);
  void end_overlapping_exchange(ArenaEdit& edit);
  void make_outer_step(at::Tensor gradient);

  Parameter<double> outer_lr_{*this, "outer_lr", 0.7, "learning rate of the outer optimizer", positive()};
  Parameter<double> outer_momentum_{*this, "outer_momentum", 0.9, "momentum of the outer optimizer", between(0, 1)};
  Parameter<std::int64_t> overlap_steps_{
      *this, "overlap_steps", 0, "steps that each rank makes while an exchange is under way; less than every_steps",
      at_least(0) | in_unit("steps")};
  Parameter<double> local_share_{
      *this, "local_share", 0.5,
      "with overlap_steps: weight of a rank's own parameters when the result of an exchange is mixed in",
      between(0, 1)};
  Parameter<ChangeForm> compression_{*this, "compression", ChangeForm::kFull,
                                     "form in which the ranks send the changes of their parameters"};

  // Both tensors have one element for each parameter element, in float32 or, if the parameters have a wider type, in
  // that type.
  at::Tensor anchor_;
  at::Tensor velocity_;

  std::unique_ptr<Exchange> exchange_;  ///< Null if the ranks average their parameters in place.
  std::optional<std::uint64_t> due_;    ///< The step after which the exchange in progress ends; empty if there is none.
};

}  // namespace trainyard
