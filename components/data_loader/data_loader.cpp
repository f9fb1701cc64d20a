// SPDX-License-Identifier: Apache-2.0
#include "components/data_loader/data_loader.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "core/loop/event_loop.h"
#include "core/plugin/loader.h"
#include "core/spans/span_scope.h"
#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard {

std::unique_ptr<Dataset> DataLoader::make_dataset() {
  return context().plugins->create<Dataset>(dataset_name_->plugin, dataset_context_);
}

void DataLoader::on_configure() {
  dataset_context_ = context();
  dataset_context_.where = fmt::format("dataset '{}' of {}", dataset_name_->plugin, where());
  dataset_context_.parameters = dataset_name_->parameters;
  data_ = make_dataset();
  data_->check_all_given_are_known();
  data_->open();
  info_ = data_->info();
  tell_data();
  make_reader();
  make_plans();
  complete_info();
}

// Returns the key of the note, a file through which rank 0 tells the other ranks about its data. The key is the same
// for all ranks, although their components have names such as "rank1/data_loader".
void DataLoader::tell_data() {
  if (context().rendezvous == nullptr || context().world_size == 1) return;
  own_data_ = describe_data(*data_, info_);
  if (context().rank == 0) context().rendezvous->put(data_note(), own_data_);
}

void DataLoader::compare_data() {
  if (own_data_.empty() || context().rank == 0) return;
  same_data_.emplace(loop(), *context().rendezvous, data_note(), own_data_, [this](const std::string& objection) {
    guarded([&] { throw Error(Code::kInvalidArgument, "{}: {}", dataset_context_.where, objection); });
  });
}

std::string DataLoader::data_note() const { return "data/" + name().substr(name().rfind('/') + 1); }

void DataLoader::make_reader() {
  reader_.emplace(*data_, context().seed);
  for (std::size_t number = 0; number < transforms_->size(); ++number) {
    const PluginSpec& spec = (*transforms_)[number];
    TransformContext transform_context = context();
    transform_context.where = fmt::format("transform '{}' (transforms[{}]) of {}", spec.plugin, number, where());
    transform_context.parameters = spec.parameters;
    auto transform = context().plugins->create<Transform>(spec.plugin, transform_context);
    transform->check_all_given_are_known();
    reader_->add(std::move(transform));
  }
  info_.fields = reader_->fields();
  layout_.emplace(info_.fields);
  check_random_splits();
}

/// Throws if `random_splits` names a split that does not exist. The default "train" is always allowed, even for a
/// dataset without this split.
void DataLoader::check_random_splits() const {
  std::vector<std::string> known{kTrainSplit};
  for (const SplitInfo& split : info_.splits) {
    if (split.name != kTrainSplit) known.push_back(split.name);
  }
  for (const std::string& name : *random_splits_) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw Error(Code::kInvalidArgument, "{}: random_splits has '{}', which is not a split of dataset '{}'{}", where(),
                name, dataset_name_->plugin, suggestion(name, known));
  }
}

bool DataLoader::draws(const std::string& split) const {
  return std::ranges::find(*random_splits_, split) != random_splits_->end();
}

/// Returns which part of the samples this data loader reads, by default the part of its rank.
DataLoader::Shard DataLoader::shard() const {
  Shard shard{context().rank, context().world_size};
  if (*shard_ >= 0) shard.index = static_cast<std::uint64_t>(*shard_);
  if (*shards_ >= 0) shard.count = static_cast<std::uint64_t>(*shards_);
  if (shard.index < shard.count) return shard;
  throw Error(Code::kInvalidArgument,
              "{}: shard = {} and shards = {} on rank {} of {} make shard {} of {}; allowed: 0 to shards - 1, and "
              "shards from 1",
              where(), *shard_, *shards_, context().rank, context().world_size, shard.index, shard.count);
}

BatchPlan DataLoader::make_plan(const SplitInfo& split, Purpose purpose, Sampling sampling, bool drop_last) const {
  BatchPlan::Settings settings;
  settings.split = split.name;
  settings.samples = split.samples;
  settings.batch_size = static_cast<std::uint64_t>(*batch_size_);
  settings.rank = shard().index;
  settings.world_size = shard().count;
  settings.sampling = sampling;
  settings.drop_last = drop_last;
  settings.seed = context().seed;
  // An evaluation of training samples uses no random transforms.
  const bool training = purpose == Purpose::kTrain;
  settings.random_transforms = draws(split.name) && (training || split.name != kTrainSplit);
  return {std::move(settings), purpose};
}

void DataLoader::make_plans() {
  for (const SplitInfo& split : info_.splits) {
    if (split.name == kTrainSplit) train_ = make_plan(split, Purpose::kTrain, *sampling_, *drop_last_);
    evaluate_.emplace(split.name, make_plan(split, Purpose::kEvaluate, *evaluation_sampling_, false));
  }
  sequence_.emplace(train_ ? &*train_ : nullptr, evaluate_);
}

void DataLoader::complete_info() {
  info_.batch_size = static_cast<std::uint64_t>(*batch_size_);
  info_.seed = context().seed;
  info_.sampling = name_of(*sampling_);
  for (SplitInfo& split : info_.splits) {
    const BatchPlan& evaluated = evaluate_.at(split.name);
    split = split.name == kTrainSplit ? train_->info() : evaluated.info();
    split.evaluation_batches = evaluated.batches();
  }
}

void DataLoader::on_activate() {
  const auto wake = [this] { loop().post([this] { guarded([this] { pump(); }); }); };
  if (*workers_ > 0) workers_activity_.emplace(loop().activity(), *this, static_cast<std::size_t>(*workers_));
  prefetcher_ = std::make_unique<Prefetcher>(*reader_, *layout_, *context().pool, static_cast<std::size_t>(*prefetch_),
                                             static_cast<std::size_t>(*workers_), wake,
                                             workers_activity_ ? &*workers_activity_ : nullptr);
  batches_.on_ready([this] { pump(); });
  dataset_.send(info_);
  compare_data();
  pump();
}

void DataLoader::on_deactivate() {
  same_data_.reset();
  prefetcher_.reset();
  workers_activity_.reset();
}

void DataLoader::on_order(const Order& order) {
  if (prefetcher_ == nullptr) return;  // The run is ending.
  prefetcher_->discard(sequence_->add(order));
  pump();
}

/// Sends batches that have been read and that an order needs, as long as the receivers have room. It is called again
/// when a receiver has room again (on_ready), when a missing batch has been read (wake), and for every order.
void DataLoader::pump() {
  if (prefetcher_ == nullptr) return;
  refill();
  while (sequence_->wanted() && batches_.ready()) {
    Prefetcher::Slot* slot = prefetcher_->head();
    if (slot == nullptr) return;
    send(*slot);
    prefetcher_->pop();
    refill();
    // head() has read the batch on this thread, which takes time, so other components on this event loop get their turn
    // first.
    if (*workers_ == 0) return go_on_later();
  }
}

void DataLoader::go_on_later() {
  if (std::exchange(going_on_, true)) return;
  loop().post([this] {
    going_on_ = false;
    guarded([this] { pump(); });
  });
}

/// Adds jobs only when at least half of the slots are free, so that workers are woken for several batches at a time.
void DataLoader::refill() {
  prefetcher_->skip_discarded();
  if (prefetcher_->room() < (prefetcher_->size() + 1) / 2) return;
  while (prefetcher_->room() > 0) {
    const std::optional<Job> job = sequence_->next();
    if (!job) break;
    prefetcher_->push(*job);
  }
  prefetcher_->publish();
}

void DataLoader::send(Prefetcher::Slot& slot) {
  if (slot.error) std::rethrow_exception(slot.error);
  const Job& job = slot.job;
  const BatchSequence::Stamp stamp = sequence_->send(job);
  const std::shared_ptr<Batch> batch = batches_.loan();
  batch->order = stamp.order;
  batch->split = job.plan->split();
  batch->epoch = stamp.epoch;
  batch->index = job.plan->index_of(job.place.samples);
  batch->samples = job.plan->rows(job.place.samples);
  batch->world_samples = world_samples(*job.plan, job.place.samples);
  batch->last_in_epoch = job.last_in_epoch;
  batch->next = job.next;
  fill_tensors(batch->tensors, slot);
  // The trace is a number that marks this message and all messages that other components send because of it. It
  // contains the rank, so that it is unique in the run.
  constexpr int kRankShift = 48;
  loop().set_trace((std::uint64_t{context().rank} + 1) << kRankShift | ++sent_);
  if (slot.read_began_ns != 0) {
    core::add_span({.kind = SpanKind::kRead,
                    .name = "read",
                    .begin_ns = slot.read_began_ns,
                    .end_ns = slot.read_ended_ns,
                    .own_thread = slot.worker});
  }
  batches_.send(batch);
  loop().set_trace(0);
}

/// Returns the number of samples in the batches of all ranks together, or 0 if it is unknown, because not every part of
/// the samples (shard) is read by the same number of ranks.
std::uint64_t DataLoader::world_samples(const BatchPlan& plan, std::uint64_t place) const {
  const std::uint64_t shards = shard().count;
  return context().world_size % shards == 0 ? plan.world_rows(place) * (context().world_size / shards) : 0;
}

/// Changes the tensors of the message in place, because messages are reused and their vectors keep their memory.
void DataLoader::fill_tensors(std::vector<Tensor>& tensors, const Prefetcher::Slot& slot) const {
  const std::uint64_t rows = slot.job.plan->rows(slot.job.place.samples);
  tensors.resize(layout_->fields().size());
  std::size_t offset = 0;
  for (std::size_t field = 0; field < tensors.size(); ++field) {
    const BatchLayout::Field& declared = layout_->fields()[field];
    Tensor& tensor = tensors[field];
    tensor.dtype = declared.dtype;
    tensor.shape.assign(1, static_cast<std::int64_t>(rows));
    tensor.shape.insert(tensor.shape.end(), declared.shape.begin(), declared.shape.end());
    tensor.offset = offset;
    tensor.buffer = slot.buffer;
    offset += layout_->field_bytes(field, rows);
  }
}

}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::DataLoader, "data_loader", "Reads a dataset and sends batches, as orders ask for them.")
