// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "components/data_loader/batch_layout.h"
#include "components/data_loader/batch_plan.h"
#include "components/data_loader/batch_sequence.h"
#include "components/data_loader/prefetcher.h"
#include "components/data_loader/same_data.h"
#include "components/data_loader/sample_reader.h"
#include "core/component/component.h"
#include "datasets/dataset.h"
#include "messages/batch.h"
#include "messages/dataset_info.h"
#include "messages/order.h"

namespace trainyard {

/// The component that reads a dataset and sends the batches that the strategy manager (the component that directs the
/// run) orders. There is one data loader for each rank. The samples are shuffled and distributed over the ranks, and
/// worker threads read batches ahead.
///
/// Transforms may change fields of the samples. Random transforms draw random numbers only for the splits that
/// `random_splits` names (by default "train"), and never when training samples are evaluated.
///
/// The content of a batch depends on the seed, the dataset, the rank and the batch's position, but not on the number of
/// workers, prefetching or timing. Training can start at any position. A position (cursor) consists of an epoch and the
/// number of its samples that have been used, and remains valid if the number of ranks or the batch size changes.
/// Workers write directly into the memory that is sent.
///
/// A shard is the part of the samples that one rank reads. Every rank has the same number of batches: a rank that has
/// no samples left sends empty batches, with tensors of 0 rows, until the other ranks are done. If a strategy needs the
/// same batches on several ranks, the planner (which makes the plan of a run from the launch file) gives these ranks
/// the same shard.
///
/// Inputs      /orders   train, evaluate and predict are served in turn; stop drops what has not been sent
/// Outputs     dataset   sent once, on activation
///             batches   each with all its fields in one buffer; sent only while every receiver has room
/// Services    cursor    where training continues after the last batch sent
/// Errors      what the dataset and the transforms throw, with the component's name; kInvalidArgument (a shard
///             that does not exist, or data that differs from that of rank 0)
class DataLoader : public Component {
 public:
  static inline const ComponentTraits kTraits{.per_rank = true, .thread = "data", .restartable = false};

  explicit DataLoader(ComponentContext& context) : Component(context, kTraits) {}

 protected:
  /// Makes the dataset that the parameter `dataset` names. Tests override this function.
  virtual std::unique_ptr<Dataset> make_dataset();

 private:
  void on_configure() override;
  void on_activate() override;
  void on_deactivate() override;

  // Check that all ranks have the same data: rank 0 publishes a description of its data, and the other ranks compare.
  void tell_data();
  void compare_data();
  std::string data_note() const;
  void make_reader();
  void check_random_splits() const;
  bool draws(const std::string& split) const;
  void complete_info();
  void make_plans();
  struct Shard {
    std::uint64_t index;
    std::uint64_t count;
  };
  Shard shard() const;
  std::uint64_t world_samples(const BatchPlan& plan, std::uint64_t place) const;
  BatchPlan make_plan(const SplitInfo& split, Purpose purpose, Sampling sampling, bool drop_last) const;
  void on_order(const Order& order);
  void pump();
  void go_on_later();
  void refill();
  void send(Prefetcher::Slot& slot);
  void fill_tensors(std::vector<Tensor>& tensors, const Prefetcher::Slot& slot) const;

  Parameter<PluginSpec> dataset_name_{*this, "dataset", kRequired, "the dataset from which samples are read",
                                      plugin_kind("dataset")};
  Parameter<std::vector<PluginSpec>> transforms_{
      *this, "transforms", std::vector<PluginSpec>{},
      "the transforms of every sample, in the order in which they are applied", plugin_kind("transform")};
  Parameter<std::vector<std::string>> random_splits_{
      *this, "random_splits", std::vector<std::string>{kTrainSplit},
      "splits for which random transforms draw numbers; train = training batches"};
  Parameter<std::int64_t> batch_size_{*this, "batch_size", 64, "samples in a batch of this rank", between(1, 1 << 24)};
  Parameter<std::int64_t> workers_{*this, "workers", 1, "threads that read samples; 0 = the component's own thread",
                                   between(0, 256)};
  Parameter<std::int64_t> prefetch_{*this, "prefetch", 4, "batches read ahead", between(1, 4096)};
  Parameter<Sampling> sampling_{*this, "sampling", Sampling::kShuffle,
                                "order of training samples; replacement = independent draws"};
  Parameter<Sampling> evaluation_sampling_{*this, "evaluation_sampling", Sampling::kSequential,
                                           "order of evaluation samples; replacement = the same draws every time",
                                           one_of({"sequential", "replacement"})};
  Parameter<std::int64_t> shard_{*this, "shard", -1,
                                 "which part of the samples to read, counted from 0; -1 = the part of this rank",
                                 at_least(-1)};
  Parameter<std::int64_t> shards_{
      *this, "shards", -1, "number of parts into which the samples are divided; -1 = one for each rank", at_least(-1)};
  Parameter<bool> drop_last_{*this, "drop_last", true,
                             "leave out an incomplete last training batch; evaluations use every sample"};

  Output<DatasetInfo> dataset_{*this, "dataset", "what the batches will contain", {.latched = true}};
  Output<Batch> batches_{*this, "batches", "the batches, in the sequence of the orders that they serve"};
  Input<Order> orders_{*this, "orders", "the orders, which request batches",
                       [this](const auto& order) { on_order(*order); }, InputOptions{.topic = "/orders"}};
  Service<LoaderCursor, LoaderCursor> cursor_{*this, "cursor",
                                              "the position at which training continues; the request is ignored",
                                              [this](const LoaderCursor&) { return cursor(); }};

  LoaderCursor cursor() const { return sequence_ ? sequence_->cursor() : LoaderCursor{}; }

  bool going_on_ = false;   ///< True while a call of pump() is pending in the event loop.
  std::uint64_t sent_ = 0;  ///< The number of batches sent. It is used to make the trace of each batch.
  DatasetContext dataset_context_;
  std::unique_ptr<Dataset> data_;
  /// The result of describe_data() for this rank; empty if there is no other rank to compare it with.
  std::string own_data_;
  /// Exists while the component is active, on all ranks except rank 0.
  std::optional<SameData> same_data_;
  std::optional<SampleReader> reader_;
  DatasetInfo info_;
  std::optional<BatchLayout> layout_;
  std::optional<BatchPlan> train_;
  std::map<std::string, BatchPlan> evaluate_;  ///< Indexed by split.
  std::optional<BatchSequence> sequence_;
  /// Records how busy the workers are. Exists while the component is active and has workers.
  std::optional<core::OwnThreads> workers_activity_;
  /// Set while the component is active. Declared after the members that it uses, so that it is destroyed before them.
  std::unique_ptr<Prefetcher> prefetcher_;
};

}  // namespace trainyard
