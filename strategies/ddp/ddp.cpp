#include "strategies/ddp/ddp.h"

#include <utility>

#include "strategies/ddp/half_compression.h"
#include "strategies/ddp/power_sgd.h"

namespace trainyard {

void Ddp::set_up(const Replica& replica) {
  Strategy::set_up(replica);
  if (replica.world != nullptr) compressed_ = make_compression();
}

std::unique_ptr<Compression> Ddp::make_compression() const {
  const at::Tensor& gradients = arena().gradients();
  if (*compression_ == "fp16") return std::make_unique<HalfCompression>(world(), gradients, at::kHalf);
  if (*compression_ == "bf16") return std::make_unique<HalfCompression>(world(), gradients, at::kBFloat16);
  if (*compression_ == "none") return nullptr;
  const PowerSgd::Options options{
      .rank = *powersgd_rank_, .start_step = static_cast<std::uint64_t>(*powersgd_start_step_), .seed = context().seed};
  return std::make_unique<PowerSgd>(world(), arena(), options,
                                    [this](at::Tensor whole) { return all_reduce(std::move(whole), ReduceOp::kMean); });
}

Pending Ddp::reduce(const Bucket& bucket, at::Tensor gradients) {
  if (compressed_) return compressed_->reduce(bucket, std::move(gradients));
  return all_reduce(std::move(gradients), ReduceOp::kMean);
}

}  // namespace trainyard

TRAINYARD_STRATEGY(trainyard::Ddp, "ddp", "A process for every rank; gradients are averaged while backward runs.")
