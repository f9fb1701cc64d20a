// SPDX-License-Identifier: Apache-2.0
#include "strategies/ddp/ddp.h"

#include "strategies/ddp/half_compression.h"
#include "strategies/ddp/power_sgd.h"

namespace trainyard {

std::unique_ptr<ddp::Compression> Ddp::make_compression() const {
  const at::Tensor& gradients = arena().gradients();
  switch (*form_) {
    case ddp::GradientForm::kFull:
      return nullptr;
    case ddp::GradientForm::kFp16:
      return std::make_unique<ddp::HalfCompression>(world(), gradients, at::kHalf);
    case ddp::GradientForm::kBf16:
      return std::make_unique<ddp::HalfCompression>(world(), gradients, at::kBFloat16);
    case ddp::GradientForm::kPowerSgd:
      break;
  }
  const ddp::PowerSgd::Options options{
      .rank = *powersgd_rank_, .start_step = static_cast<std::uint64_t>(*powersgd_start_step_), .seed = context().seed};
  return std::make_unique<ddp::PowerSgd>(world(), arena(), options);
}

void Ddp::save_state(StateWriter& into) const {
  if (*form_ != ddp::GradientForm::kPowerSgd || !compression_) return;
  into.set("compression", kind());
  compression_->save_state(into);
}

void Ddp::restore_state(const StateReader& from) {
  if (*form_ != ddp::GradientForm::kPowerSgd || !compression_) return;
  if (from.text("compression") == kind()) return compression_->restore_state(from);
  context().log->warn("{}: the checkpoint has the state of the compression '{}'; '{}' begins without it", where(),
                      from.text("compression"), kind());
}

Work Ddp::reduce(const Bucket& bucket, const at::Tensor& gradients) {
  if (compression_) return compression_->reduce(bucket, gradients, loss_scale());
  return world().all_reduce(gradients, ReduceOp::kMean);
}

void Ddp::finish(const Bucket& bucket, const at::Tensor& gradients) {
  if (compression_) compression_->finish(bucket, gradients, loss_scale());
}

}  // namespace trainyard

TRAINYARD_STRATEGY(trainyard::Ddp, "ddp",
                   "Every rank has the whole model; gradients are averaged during the backward pass.")
