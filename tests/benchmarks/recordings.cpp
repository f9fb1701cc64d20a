// SPDX-License-Identifier: Apache-2.0
// Measures how long a recorder takes for one message: to convert the binary form to JSON, and to write the JSON to a
// compressed file.
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "messages/batch.h"
#include "messages/message_type.h"
#include "messages/metrics.h"
#include "messages/recorded_json.h"
#include "messages/step.h"
#include "recordings/recorder.h"

namespace trainyard {
namespace {

using recordings::Feed;
using recordings::Recorder;

constexpr int kRounds = 11;
constexpr int kMessages = 20'000;

/// Returns the processor time of this thread, which other programs on the machine disturb less than the time of day.
double thread_time_ns() {
  struct timespec now {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// Runs `work` for many messages, several times, and prints the median of the times per message.
template <class Work>
void measure(const std::string& name, Work work) {
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    const double begin = thread_time_ns();
    for (int i = 0; i < kMessages; ++i) work(static_cast<std::uint64_t>(i));
    times.push_back((thread_time_ns() - begin) / kMessages);
  }
  std::ranges::nth_element(times, times.begin() + kRounds / 2);
  fmt::print("{{\"name\": \"{}\", \"median_ns\": {:.0f}}}\n", name, times[kRounds / 2]);
}

template <class T>
void run(const std::string& name, const T& message, Recorder& recorder) {
  const MessageType& type = message_type<T>();
  const auto feed =
      std::make_shared<const Feed>(Feed{"/" + name, "main", type.schema_text, parse_schema(type.schema_text)});
  std::string body, text;
  std::vector<Buffer> payloads;
  encode(message, body, payloads);
  const auto bytes = std::as_bytes(std::span(body));
  measure("json of " + name, [&](std::uint64_t) {
    text.clear();
    append_json(feed->schema, bytes, text);
  });
  Header header;
  header.trace = 1;
  std::uint64_t sequence = 0;
  measure("recording of " + name, [&](std::uint64_t i) {
    header.sequence = sequence++;
    recorder.take({feed, header, bytes, {}, i});
    recorder.tick(Recorder::Clock::now());
  });
}

int run_all() {
  std::string folder = std::filesystem::temp_directory_path() / "trainyard-benchmark-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  {
    Recorder recorder({.path = folder + "/run.mcap"});
    run("gradients", Gradients{.step = 1234, .run_step = 1234, .scale = 0.5, .norm = 1.25, .total_steps = 20000},
        recorder);
    Batch batch{.order = 3, .split = "train", .epoch = 1, .index = 77, .samples = 64, .world_samples = 64};
    batch.tensors = {Tensor::empty(DType::kFloat32, {64, 784}), Tensor::empty(DType::kInt64, {64})};
    run("batch", batch, recorder);
    recorder.finish("");
  }
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace trainyard

int main() { return trainyard::run_all(); }
