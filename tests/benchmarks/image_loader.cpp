// SPDX-License-Identifier: Apache-2.0
// Measures the images per second of the data loader over a folder of pictures:
//
//    trainyard_benchmark_image_loader FOLDER SIZE BATCH WORKERS EPOCHS
//
// The component runs as in a launch: loaded as a plugin, on an event loop, given orders, with credits on its batches.
// Batches are counted and released, as the accelerator host does. The first epoch is not timed, because threads start
// in it and the files are read into the page cache.
#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "core/component/component.h"
#include "core/edge/local_edge.h"
#include "core/loop/event_loop.h"
#include "core/memory/shared_pool.h"
#include "core/plugin/loader.h"
#include "messages/batch.h"
#include "messages/dataset_info.h"
#include "messages/error.h"
#include "messages/order.h"

namespace {

using namespace trainyard;
using Clock = std::chrono::steady_clock;

/// A component that orders batches and counts the batches that arrive.
class Consumer final : public Component {
 public:
  explicit Consumer(ComponentContext& context) : Component(context) {}

  void order(const Order& order) { orders_.send(order); }

  std::uint64_t samples_per_epoch = 0;
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;

 private:
  void count(const Batch& batch) {
    samples += batch.samples;
    for (const Tensor& tensor : batch.tensors) bytes += tensor.bytes();
  }

  Output<Order> orders_{*this, "orders", "what to send"};
  Input<DatasetInfo> dataset_{*this, "dataset", "how many samples there are",
                              [this](const auto& info) { samples_per_epoch = info->splits.at(0).samples; }};
  Input<Batch> batches_{*this, "batches", "what is counted", [this](const auto& batch) { count(*batch); }};
};

/// A data loader and its consumer on one event loop. Ports with the same names are connected.
class Bench {
 public:
  Bench(const std::string& parameters, std::uint64_t batch_size) : batch_size_(batch_size) {
    ComponentContext loader_context = context("data_loader", parameters);
    loader_ = plugins_.create<Component>("data_loader", loader_context);
    loader_->on_error([this](const std::string& what) { failure_ = what; });
    ComponentContext consumer_context = context("consumer", "{}");
    consumer_ = std::make_unique<Consumer>(consumer_context);
    connect(*consumer_, *loader_);
    connect(*loader_, *consumer_);
    for (Component* component : {static_cast<Component*>(consumer_.get()), loader_.get()}) {
      component->transition(State::kInactive);
      component->transition(State::kActive);
    }
    run_until([this] { return consumer_->samples_per_epoch > 0; });
  }
  ~Bench() {
    loader_->transition(State::kInactive);
    loader_->transition(State::kFinalized);
  }

  /// Returns the seconds from the order of an epoch to its last batch.
  double epoch(std::uint64_t number) {
    const std::uint64_t wanted = consumer_->samples + consumer_->samples_per_epoch;
    const std::uint64_t batches = (consumer_->samples_per_epoch + batch_size_ - 1) / batch_size_;
    const auto begin = Clock::now();
    consumer_->order(
        {.id = number + 1, .kind = OrderKind::kTrain, .batches = batches, .epoch = number, .cursor = {number, 0}});
    run_until([&] { return consumer_->samples == wanted; });
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  const Consumer& consumer() const { return *consumer_; }

 private:
  ComponentContext context(const std::string& name, const std::string& parameters) {
    ComponentContext made;
    made.where = "component '" + name + "'";
    made.name = name;
    made.parameters = parameters;
    made.seed = 1;
    made.index = next_index_++;
    made.log = log_;
    made.plugins = &plugins_;
    made.pool = &pool_;
    made.loop = &loop_;
    return made;
  }

  void connect(Component& from, Component& to) {
    for (OutputBase* output : from.outputs()) {
      for (InputBase* input : to.inputs()) {
        if (input->name() != output->name()) continue;
        const InputOptions& options = input->options();
        edges_.push_back(std::make_unique<core::LocalEdge>(*output, *input, loop_,
                                                           static_cast<std::uint32_t>(edges_.size()), options.policy,
                                                           options.window_messages, options.window_bytes));
        output->add_edge(*edges_.back());
        input->set_connections(input->connections() + 1);
      }
    }
  }

  template <class Done>
  void run_until(Done done) {
    while (!done()) {
      if (!loop_.run_once() && !done()) loop_.wait(std::chrono::milliseconds(10));
      if (!failure_.empty()) throw Error(Code::kInternal, "{}", failure_);
    }
  }

  std::uint64_t batch_size_;
  std::uint32_t next_index_ = 0;
  std::string failure_;
  core::EventLoop loop_{"benchmark"};
  core::SharedPool pool_;
  core::PluginLoader plugins_{core::PluginLoader::default_directories()};
  std::shared_ptr<spdlog::logger> log_ =
      std::make_shared<spdlog::logger>("benchmark", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  std::unique_ptr<Component> loader_;
  std::unique_ptr<Consumer> consumer_;
  std::vector<std::unique_ptr<core::Edge>> edges_;
};

}  // namespace

int main(int count, char** words) {
  if (count != 6) {
    fmt::print(stderr, "usage: {} FOLDER SIZE BATCH WORKERS EPOCHS\n", words[0]);
    return 2;
  }
  const auto number = [&](int at) { return std::strtoull(words[at], nullptr, 10); };
  const std::string parameters = fmt::format(
      R"({{"dataset": {{"plugin": "image_folder", "folder": "{}", "size": {}, "validate_fraction": 0}},
           "batch_size": {}, "workers": {}, "prefetch": {}, "drop_last": false}})",
      words[1], number(2), number(3), number(4),
      std::max(2 * number(4), 2ull));  // Two batches per worker are read ahead, as in PyTorch.
  try {
    Bench bench(parameters, number(3));
    bench.epoch(0);
    std::vector<double> seconds;
    for (std::uint64_t epoch = 1; epoch <= number(5); ++epoch) seconds.push_back(bench.epoch(epoch));
    std::ranges::sort(seconds);
    const auto images = static_cast<double>(bench.consumer().samples_per_epoch);
    const double median = seconds.at(seconds.size() / 2);
    fmt::print("{{\"name\": \"image_loader\", \"median_ns\": {:.0f}, \"images_per_second\": {:.1f}, \"bytes\": {}}}\n",
               median / images * 1e9, images / median, bench.consumer().bytes);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
