// SPDX-License-Identifier: Apache-2.0
#include "collectives/tcp/direct.h"

#include <cstring>

#include "collectives/rank_order.h"
#include "messages/error.h"

namespace trainyard::tcp {

using collectives::Effort;
using collectives::Operation;
using collectives::OperationKind;
using collectives::Progress;

class Direct::Transfer final : public collectives::Transfer {
 public:
  Transfer(Direct& direct, const Operation& operation) : direct_(direct), operation_(operation) {}

  Progress advance(Effort) override {
    check_sizes();
    if (operation_.reduces()) {
      reduce();
    } else {
      gather();
    }
    return Progress::kFinished;
  }

  std::optional<std::vector<std::uint32_t>> missing() const override { return std::vector<std::uint32_t>{}; }

 private:
  std::uint32_t own() const { return direct_.control_.own(); }
  std::uint32_t size() const { return direct_.control_.size(); }
  Bytes from(std::uint32_t member) const { return direct_.control_.with(member).asked().body(operation_.order); }

  /// Returns the memory of the elements whose reduction this member computes.
  std::span<std::byte> piece() const {
    return operation_.request.kind == OperationKind::kReduceScatter ? operation_.part(own()) : operation_.whole();
  }

  // All members have made the same request, so a member that sent a different number of bytes violates the protocol.
  void check_sizes() const {
    for (std::uint32_t member = 0; member < size(); ++member) {
      if (member == own()) continue;
      const std::size_t wanted = operation_.reduces() ? piece().size() : operation_.part(member).size();
      if (from(member).size() == wanted) continue;
      throw Error(Code::kCorrupt, "{} bytes came from rank {} where {} were expected", from(member).size(),
                  direct_.control_.ranks()[member], wanted);
    }
  }

  void reduce() {
    const std::span<std::byte> to = piece();
    if (to.empty()) return;
    direct_.inputs_.resize(size());
    for (std::uint32_t member = 0; member < size(); ++member) {
      direct_.inputs_[member] = member == own() ? to.data() : from(member).data();
    }
    const DType dtype = operation_.data.dtype;
    collectives::reduce_in_order(operation_.request.op, dtype, direct_.inputs_, to.data(), to.size() / size_of(dtype));
  }

  void gather() {
    for (std::uint32_t member = 0; member < size(); ++member) {
      const std::span<std::byte> part = operation_.part(member);
      if (member != own() && !part.empty()) std::memcpy(part.data(), from(member).data(), part.size());
    }
  }

  Direct& direct_;
  const Operation& operation_;
};

Bytes Direct::share_for(std::uint32_t member, const Operation& operation) const {
  if (!is_direct(operation)) return {};
  switch (operation.request.kind) {
    case OperationKind::kAllReduce:
      return operation.whole();
    case OperationKind::kReduceScatter:
      return operation.part(member);
    default:
      return operation.part(control_.own());
  }
}

std::unique_ptr<collectives::Transfer> Direct::begin(const Operation& operation) {
  return std::make_unique<Transfer>(*this, operation);
}

}  // namespace trainyard::tcp
