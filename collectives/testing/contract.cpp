// SPDX-License-Identifier: Apache-2.0
#include "collectives/testing/contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "collectives/testing/values.h"
#include "core/rendezvous/rendezvous.h"
#include "messages/error.h"

namespace trainyard::testing {
namespace {

template <class T>
void expect_equal(const std::string& what, const T& got, const T& wanted) {
  if (got != wanted) throw Error(Code::kInternal, "{}: is {}, should be {}", what, got, wanted);
}

/// Returns this rank's input.
Values samples(const Collective& group, DType dtype, std::uint64_t count, std::uint32_t shift = 0) {
  Values values(dtype, count);
  for (std::uint64_t i = 0; i < count; ++i) values.set(i, sample(dtype, group.rank(), i + shift));
  return values;
}

void expect_reduced(const Collective& group, ReduceOp op, DType dtype, const Values& values, std::uint64_t begin,
                    std::uint64_t end, std::uint32_t shift = 0) {
  for (std::uint64_t i = begin; i < end; ++i) {
    expect_near(fmt::format("{} of {} ranks", name_of(op), group.size()), dtype, i, values.get(i),
                reduced(op, dtype, group.size(), i + shift));
  }
}

/// Returns the bounds of unequal parts, some of which are empty: the first one and, of four, the third one.
std::vector<std::uint64_t> uneven(std::uint64_t count, std::uint32_t parts) {
  std::vector<std::uint64_t> bounds(parts + 1, count / 3);
  bounds.front() = bounds[1] = 0;
  bounds.back() = count;
  return bounds;
}

/// Numbers of elements that make the collectives use different algorithms, and with which parts are of unequal size.
constexpr std::array<std::uint64_t, 3> kCounts{1, 1025, 17'003};

// There is no mean of bools.
bool has_meaning(ReduceOp op, DType dtype) { return op != ReduceOp::kMean || dtype != DType::kBool; }

void all_reduces_every_op_and_type(Collective& group, core::Rendezvous&) {
  for (const DType dtype : all_dtypes()) {
    for (const ReduceOp op : all_ops()) {
      if (!has_meaning(op, dtype)) continue;
      for (const std::uint64_t count : kCounts) {
        Values values = samples(group, dtype, count);
        group.all_reduce(values.elements(), op).wait();
        expect_reduced(group, op, dtype, values, 0, count);
      }
    }
  }
}

void gives_every_rank_the_same_bits(Collective& group, core::Rendezvous&) {
  for (const DType dtype : {DType::kFloat16, DType::kFloat32, DType::kFloat64}) {
    Values values(dtype, 4099);
    for (std::uint64_t i = 0; i < values.size(); ++i) values.set(i, 1.0 / static_cast<double>(3 + i + group.rank()));
    group.all_reduce(values.elements(), ReduceOp::kMean).wait();
    for (const std::string& bytes : group.all_gather_texts(values.text())) {
      if (bytes != values.text()) throw Error(Code::kInternal, "ranks have different bits of {}", name_of(dtype));
    }
  }
}

void broadcasts_from_every_root(Collective& group, core::Rendezvous&) {
  for (const DType dtype : all_dtypes()) {
    for (std::uint32_t root = 0; root < group.size(); ++root) {
      for (const std::uint64_t count : kCounts) {
        Values values = samples(group, dtype, count);
        group.broadcast(values.elements(), root).wait();
        for (std::uint64_t i = 0; i < count; ++i) {
          expect_near("broadcast", dtype, i, values.get(i), sample(dtype, root, i));
        }
      }
    }
  }
}

void gathers_parts(Collective& group, DType dtype, std::uint64_t count, const std::vector<std::uint64_t>& given) {
  const auto bounds = given.empty() ? Collective::equal_parts(count, group.size()) : given;
  Values values(dtype, count);
  for (std::uint64_t i = bounds[group.rank()]; i < bounds[group.rank() + 1]; ++i) {
    values.set(i, sample(dtype, group.rank(), i));
  }
  group.all_gather(values.elements(), given).wait();
  for (std::uint32_t rank = 0; rank < group.size(); ++rank) {
    for (std::uint64_t i = bounds[rank]; i < bounds[rank + 1]; ++i) {
      expect_near("all_gather", dtype, i, values.get(i), sample(dtype, rank, i));
    }
  }
}

void gathers_equal_uneven_and_empty_parts(Collective& group, core::Rendezvous&) {
  for (const DType dtype : all_dtypes()) {
    for (const std::uint64_t count : kCounts) {
      gathers_parts(group, dtype, count, {});
      gathers_parts(group, dtype, count, uneven(count, group.size()));
    }
  }
}

void reduces_parts(Collective& group, ReduceOp op, DType dtype, std::uint64_t count,
                   const std::vector<std::uint64_t>& given) {
  const auto bounds = given.empty() ? Collective::equal_parts(count, group.size()) : given;
  Values values = samples(group, dtype, count);
  group.reduce_scatter(values.elements(), op, given).wait();
  expect_reduced(group, op, dtype, values, bounds[group.rank()], bounds[group.rank() + 1]);
}

void reduces_equal_uneven_and_empty_parts(Collective& group, core::Rendezvous&) {
  for (const DType dtype : all_dtypes()) {
    for (const ReduceOp op : all_ops()) {
      if (!has_meaning(op, dtype)) continue;
      for (const std::uint64_t count : kCounts) {
        reduces_parts(group, op, dtype, count, {});
        reduces_parts(group, op, dtype, count, uneven(count, group.size()));
      }
    }
  }
}

void leaves_a_barrier_when_all_have_come(Collective& group, core::Rendezvous& notes) {
  for (int round = 0; round < 5; ++round) {
    const auto key = [&](std::uint32_t rank) { return fmt::format("barrier/{}/{}.{}", group.name(), round, rank); };
    notes.put(key(group.rank()), "here");
    group.barrier().wait();
    for (std::uint32_t rank = 0; rank < group.size(); ++rank) {
      std::string note;
      if (!notes.find(key(rank), note)) throw Error(Code::kInternal, "a barrier did not wait for rank {}", rank);
    }
  }
}

// Each rank calls recv before send for every other rank. A receive that waits must not hold up the sends.
void sends_both_ways_at_once(Collective& group, core::Rendezvous&) {
  constexpr std::uint64_t kCount = 50'000;
  std::vector<Values> incoming, outgoing;
  std::vector<Work> works;
  incoming.reserve(2 * group.size());
  outgoing.reserve(2 * group.size());
  for (std::uint32_t turn = 0; turn < 2; ++turn) {
    for (std::uint32_t other = 0; other < group.size(); ++other) {
      if (other == group.rank()) continue;
      incoming.emplace_back(DType::kFloat32, kCount);
      works.push_back(group.recv(incoming.back().elements(), other));
      outgoing.push_back(samples(group, DType::kFloat32, kCount, turn));
      works.push_back(group.send(outgoing.back().elements(), other));
    }
  }
  for (Work& work : works) work.wait();
  std::size_t place = 0;
  for (std::uint32_t turn = 0; turn < 2; ++turn) {
    for (std::uint32_t other = 0; other < group.size(); ++other) {
      if (other == group.rank()) continue;
      const Values& values = incoming[place++];
      for (std::uint64_t i = 0; i < kCount; ++i) {
        expect_near("recv", DType::kFloat32, i, values.get(i), sample(DType::kFloat32, other, i + turn));
      }
    }
  }
}

// Ranks that do not take part in a message are not held up by it.
void sends_along_a_chain_beside_operations_of_all(Collective& group, core::Rendezvous&) {
  std::int64_t sum = group.rank();
  std::int64_t before = 0;
  Work all = group.all_reduce({&sum, DType::kInt64, 1}, ReduceOp::kSum);
  if (group.rank() > 0) group.recv({&before, DType::kInt64, 1}, group.rank() - 1).wait();
  std::int64_t own = before + 1;
  if (group.rank() + 1 < group.size()) group.send({&own, DType::kInt64, 1}, group.rank() + 1).wait();
  all.wait();
  expect_equal<std::int64_t>("chain", own, group.rank() + 1);
  expect_equal<std::int64_t>("sum", sum, group.size() * (group.size() - 1) / 2);
}

void finishes_many_at_once_whatever_is_waited_for_first(Collective& group, core::Rendezvous&) {
  constexpr std::uint32_t kMany = 24;
  for (const bool forwards : {true, false}) {
    std::vector<Values> values;
    std::vector<Work> works;
    for (std::uint32_t i = 0; i < kMany; ++i) values.push_back(samples(group, DType::kFloat32, 10 + 700 * i, i));
    for (Values& one : values) works.push_back(group.all_reduce(one.elements(), ReduceOp::kSum));
    if (!forwards) std::ranges::reverse(works);
    // Every rank waits for the operations in a different order.
    std::ranges::rotate(works, works.begin() + group.rank());
    for (Work& work : works) {
      group.progress();
      work.wait();
      work.wait();
    }
    for (std::uint32_t i = 0; i < kMany; ++i) {
      expect_reduced(group, ReduceOp::kSum, DType::kFloat32, values[i], 0, values[i].size(), i);
    }
  }
}

void carries_out_operations_on_the_same_memory_in_order(Collective& group, core::Rendezvous&) {
  const std::uint64_t count = 10'007;
  Values values = samples(group, DType::kFloat64, count);
  Work first = group.reduce_scatter(values.elements(), ReduceOp::kSum);
  Work second = group.all_gather(values.elements());
  Work third = group.all_reduce(values.elements(), ReduceOp::kMean);
  third.wait();
  first.wait();
  second.wait();
  expect_reduced(group, ReduceOp::kSum, DType::kFloat64, values, 0, count);
}

void is_done_in_the_end(Collective& group, core::Rendezvous&) {
  Values values = samples(group, DType::kInt32, 5000);
  Work work = group.all_reduce(values.elements(), ReduceOp::kMax);
  while (!work.done()) group.progress();
  work.wait();
  expect_reduced(group, ReduceOp::kMax, DType::kInt32, values, 0, values.size());
}

void gathers_texts_of_any_length(Collective& group, core::Rendezvous&) {
  const auto text_of = [](std::uint32_t rank) { return std::string(rank * 1000, static_cast<char>('a' + rank)); };
  const auto texts = group.all_gather_texts(text_of(group.rank()));
  expect_equal<std::size_t>("texts", texts.size(), group.size());
  for (std::uint32_t rank = 0; rank < group.size(); ++rank) expect_equal("text", texts[rank], text_of(rank));
  for (const std::string& text : group.all_gather_texts("")) expect_equal<std::string>("text", text, "");
}

void works_on_memory_of_its_own_and_of_others(Collective& group, core::Rendezvous&) {
  constexpr std::uint64_t kCount = 20'000;
  const Buffer own = group.allocate(kCount * sizeof(float));
  const Buffer other = Buffer::heap(kCount * sizeof(float));
  group.use(other);
  if (std::ranges::any_of(own.bytes(), [](std::byte byte) { return byte != std::byte{0}; })) {
    throw Error(Code::kInternal, "memory is not zeroed");
  }
  for (const Buffer& memory : {own, other}) {
    auto* numbers = reinterpret_cast<float*>(memory.data());
    std::iota(numbers, numbers + kCount, static_cast<float>(group.rank()));
    group.all_reduce({numbers + 1, DType::kFloat32, kCount - 1}, ReduceOp::kMax).wait();
    group.barrier().wait();
    expect_equal("maximum", numbers[kCount - 1], static_cast<float>(kCount - 1 + group.size() - 1));
    expect_equal("what was not given", numbers[0], static_cast<float>(group.rank()));
  }
}

void takes_nothing_for_an_operation(Collective& group, core::Rendezvous&) {
  group.all_reduce({nullptr, DType::kFloat32, 0}, ReduceOp::kSum).wait();
  group.broadcast({nullptr, DType::kFloat32, 0}, group.size() - 1).wait();
  group.all_gather({nullptr, DType::kFloat32, 0}).wait();
  group.reduce_scatter({nullptr, DType::kFloat32, 0}, ReduceOp::kSum).wait();
}

void repeats_little_operations(Collective& group, core::Rendezvous&) {
  for (std::int64_t i = 0; i < 200; ++i) {
    std::int64_t value = i + group.rank();
    group.all_reduce({&value, DType::kInt64, 1}, ReduceOp::kMin).wait();
    expect_equal("minimum", value, i);
  }
}

constexpr ContractCheck kChecks[] = {
    {"AllReducesEveryOpAndType", all_reduces_every_op_and_type},
    {"GivesEveryRankTheSameBits", gives_every_rank_the_same_bits},
    {"BroadcastsFromEveryRoot", broadcasts_from_every_root},
    {"GathersEqualUnevenAndEmptyParts", gathers_equal_uneven_and_empty_parts},
    {"ReducesEqualUnevenAndEmptyParts", reduces_equal_uneven_and_empty_parts},
    {"LeavesABarrierWhenAllHaveCome", leaves_a_barrier_when_all_have_come},
    {"SendsBothWaysAtOnce", sends_both_ways_at_once},
    {"SendsAlongAChainBesideOperationsOfAll", sends_along_a_chain_beside_operations_of_all},
    {"FinishesManyAtOnceWhateverIsWaitedForFirst", finishes_many_at_once_whatever_is_waited_for_first},
    {"CarriesOutOperationsOnTheSameMemoryInOrder", carries_out_operations_on_the_same_memory_in_order},
    {"IsDoneInTheEnd", is_done_in_the_end},
    {"GathersTextsOfAnyLength", gathers_texts_of_any_length},
    {"WorksOnMemoryOfItsOwnAndOfOthers", works_on_memory_of_its_own_and_of_others},
    {"TakesNothingForAnOperation", takes_nothing_for_an_operation},
    {"RepeatsLittleOperations", repeats_little_operations},
};

}  // namespace

std::span<const ContractCheck> contract_checks() { return kChecks; }

}  // namespace trainyard::testing
