// SPDX-License-Identifier: Apache-2.0
// Implements ManyRanks, and tests properties that all strategies have.
#include "tests/numerics/many_ranks.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <gtest/gtest.h>

#include "messages/error.h"
#include "tensors/bridge.h"

namespace trainyard::testing {

/// A thread that runs the submitted actions one after another, because an event loop belongs to the thread that made
/// it.
struct ManyRanks::Rank {
  std::uint32_t number = 0;
  std::unique_ptr<MiniRun> run;
  std::exception_ptr failure;

  std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> action;  ///< Empty while the thread is idle.
  bool ends = false;
  std::thread thread{[this] { work(); }};

  ~Rank() {
    submit([this] { run.reset(); });
    wait();
    {
      const std::lock_guard lock(mutex);
      ends = true;
    }
    changed.notify_all();
    thread.join();
  }

  void submit(std::function<void()> what) {
    const std::lock_guard lock(mutex);
    failure = nullptr;
    action = std::move(what);
    changed.notify_all();
  }

  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return !action; });
  }

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return action || ends; });
      if (ends) return;
      lock.unlock();
      try {
        action();
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      action = nullptr;
      changed.notify_all();
    }
  }
};

ManyRanks::ManyRanks(std::uint32_t ranks, const std::string& host, const std::string& optimizer,
                     const DatasetInfo& data, std::uint64_t seed) {
  Rig::World world;
  world.seed = seed;
  world.world_size = ranks;
  world.rendezvous = core::make_local_rendezvous();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    ranks_.push_back(std::make_unique<Rank>());
    ranks_.back()->number = rank;
  }
  submit([&](Rank& rank) {
    Rig::World own = world;
    own.rank = rank.number;
    rank.run = std::make_unique<MiniRun>(host, optimizer, data, own);
  });
  for (const auto& rank : ranks_) {
    if (rank->failure) std::rethrow_exception(rank->failure);
  }
}

// All ranks end at the same time, because a rank may have to communicate with the others when it ends.
ManyRanks::~ManyRanks() {
  submit([](Rank& rank) { rank.run.reset(); });
}

void ManyRanks::submit(const std::function<void(Rank& rank)>& action) {
  for (const auto& rank : ranks_) {
    rank->submit([&action, one = rank.get()] { action(*one); });
  }
  for (const auto& rank : ranks_) rank->wait();
}

void ManyRanks::each(const std::function<void(std::uint32_t rank, MiniRun& run)>& action) {
  submit([&](Rank& rank) { action(rank.number, *rank.run); });
  for (const auto& rank : ranks_) {
    if (rank->failure) std::rethrow_exception(rank->failure);
  }
}

std::vector<std::string> ManyRanks::errors(const std::function<void(std::uint32_t rank, MiniRun& run)>& action) {
  submit([&](Rank& rank) { action(rank.number, *rank.run); });
  std::vector<std::string> texts;
  for (const auto& rank : ranks_) {
    texts.emplace_back();
    try {
      if (rank->failure) std::rethrow_exception(rank->failure);
    } catch (const std::exception& error) {
      texts.back() = error.what();
    }
  }
  return texts;
}

std::vector<std::vector<double>> ManyRanks::train(const std::vector<std::vector<Batch>>& batches,
                                                  std::uint64_t micro_batches) {
  std::vector<std::vector<double>> losses(ranks_.size());
  each([&](std::uint32_t rank, MiniRun& run) { losses[rank] = run.train(batches[rank], micro_batches); });
  return losses;
}

std::vector<at::Tensor> ManyRanks::parameters() {
  std::vector<at::Tensor> all(ranks_.size());
  each([&](std::uint32_t rank, MiniRun& run) { all[rank] = run.parameters().clone(); });
  return all;
}

at::Tensor ManyRanks::whole_parameters() {
  const std::vector<at::Tensor> all = parameters();
  std::int64_t bytes = 0;
  for (const at::Tensor& one : all) bytes += static_cast<std::int64_t>(one.nbytes());
  const ArenaInfo& info = ranks_.front()->run->arena();
  return bytes == static_cast<std::int64_t>(info.parameter_bytes) ? at::cat(all) : all.front();
}

std::vector<std::vector<Batch>> deal(const std::vector<Batch>& batches, std::uint32_t ranks) {
  std::vector<std::vector<Batch>> dealt(ranks);
  for (const Batch& batch : batches) {
    const std::int64_t part = batch.tensors.front().shape.front() / ranks;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      dealt[rank].push_back(rows(batch, part * rank, part * (rank + 1)));
      dealt[rank].back().world_samples = batch.samples;
    }
  }
  return dealt;
}

namespace {

constexpr int kFeatures = 20, kClasses = 7;
constexpr std::uint32_t kRanks = 4;
constexpr const char* kMlp = R"("model": {"plugin": "mlp", "hidden": [16]})";
constexpr const char* kSgd = R"({"rule": "sgd", "lr": 0.1, "momentum": 0.9})";

std::vector<Batch> whole_batches(int count) {
  std::vector<Batch> all;
  for (int i = 0; i < count; ++i) all.push_back(made_up_batch(static_cast<std::uint64_t>(i), 32, kFeatures, kClasses));
  return all;
}

double largest_difference(const at::Tensor& a, const at::Tensor& b) { return (a - b).abs().max().item<double>(); }

TEST(DdpTest, RanksAreEqualBitForBitAndEqualOneRankWithTheWholeBatch) {
  for (const bool wide : {false, true}) {
    const std::string host = std::string(kMlp) + (wide ? R"(, "precision": "64-true")" : "");
    MiniRun one(host, kSgd, made_up_data(kFeatures, kClasses));
    one.train(whole_batches(20));
    for (const char* bucket : {"0", "0.0005"}) {
      ManyRanks ranks(kRanks, fmt::format(R"({}, "strategy": {{"plugin": "ddp", "bucket_mb": {}}})", host, bucket),
                      kSgd, made_up_data(kFeatures, kClasses));
      ranks.train(deal(whole_batches(20), kRanks));
      const std::vector<at::Tensor> all = ranks.parameters();
      for (const at::Tensor& other : all) EXPECT_TRUE(other.equal(all[0]));
      EXPECT_LE(largest_difference(all[0], one.parameters()), wide ? 1e-12 : 1e-6) << "buckets of " << bucket;
    }
  }
}

}  // namespace
}  // namespace trainyard::testing
