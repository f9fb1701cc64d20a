// SPDX-License-Identifier: Apache-2.0
#include "collectives/testing/values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "collectives/rank_order.h"
#include "messages/error.h"

namespace trainyard::testing {
namespace {

using collectives::from_working_form;
using collectives::to_working_form;
using collectives::WorkingForm;

bool is_floating(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 || dtype == DType::kFloat32 || dtype == DType::kFloat64;
}

/// Returns the allowed relative error of a result: a few roundings of the type.
double tolerance(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 4.0 / 2048;
    case DType::kBFloat16:
      return 4.0 / 256;
    case DType::kFloat32:
      return 1e-6;
    case DType::kFloat64:
      return 1e-12;
    default:
      return 0;
  }
}

const WorkingForm kNumbers{DType::kFloat64, ReduceOp::kSum, 1};

}  // namespace

const std::vector<DType>& all_dtypes() {
  static const std::vector<DType> dtypes{DType::kUInt8,   DType::kInt8,    DType::kInt16,    DType::kInt32,
                                         DType::kInt64,   DType::kFloat16, DType::kBFloat16, DType::kFloat32,
                                         DType::kFloat64, DType::kBool};
  return dtypes;
}

const std::vector<ReduceOp>& all_ops() {
  static const std::vector<ReduceOp> ops{ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kMin, ReduceOp::kMax,
                                         ReduceOp::kProduct};
  return ops;
}

double Values::get(std::uint64_t i) const {
  double value = 0;
  to_working_form(kNumbers, dtype_, at(i), &value, 1);
  return value;
}

void Values::set(std::uint64_t i, double value) {
  from_working_form(kNumbers, dtype_, &value, bytes_.data() + (i + 1) * size_of(dtype_), 1);
}

double sample(DType dtype, std::uint32_t rank, std::uint64_t i) {
  const std::uint64_t mixed = i * 7 + rank * 13 + i / 5 * rank;
  if (dtype == DType::kBool) return mixed % 3 != 0 ? 1 : 0;
  // The value has so few bits that every floating-point type represents it exactly.
  if (is_floating(dtype)) return 0.5 + static_cast<double>(mixed % 97) / 64;
  const auto whole = static_cast<double>(1 + mixed % 3);
  return dtype != DType::kUInt8 && mixed % 5 == 0 ? -whole : whole;
}

double reduced(ReduceOp op, DType dtype, std::uint32_t ranks, std::uint64_t i) {
  double result = sample(dtype, 0, i);
  for (std::uint32_t rank = 1; rank < ranks; ++rank) {
    const double value = sample(dtype, rank, i);
    if (op == ReduceOp::kMin) result = std::min(result, value);
    if (op == ReduceOp::kMax) result = std::max(result, value);
    if (op == ReduceOp::kProduct) result *= value;
    if (op == ReduceOp::kSum || op == ReduceOp::kMean) result += value;
  }
  if (dtype == DType::kBool) return result != 0 ? 1 : 0;
  if (op != ReduceOp::kMean) return result;
  return is_floating(dtype) ? result / ranks : std::trunc(result / ranks);
}

void expect_near(const std::string& what, DType dtype, std::uint64_t i, double got, double wanted) {
  if (std::abs(got - wanted) <= tolerance(dtype) * std::abs(wanted)) return;
  throw Error(Code::kInternal, "{}, {}: element {} is {}, should be {}", what, name_of(dtype), i, got, wanted);
}

}  // namespace trainyard::testing
