// SPDX-License-Identifier: Apache-2.0
#include "components/recorder/recorder.h"

#include <fmt/format.h>

#include "core/loop/quiet_thread.h"
#include "messages/error.h"

namespace trainyard {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// How long the other processes of the run may take to accept the subscriptions. They have already bound their sockets.
constexpr std::chrono::seconds kSubscribeDeadline{5};
/// When the run ends, messages are recorded until none has arrived for kQuiet, but for at most kLongestEnd.
constexpr milliseconds kQuiet{100};
constexpr std::chrono::seconds kLongestEnd{3};

}  // namespace

RunRecorder::RunRecorder(ComponentContext& context) : Component(context, kTraits) {}

RunRecorder::~RunRecorder() = default;

recordings::RunRecordingOptions RunRecorder::options() const {
  const std::string directory = context().output_directory.empty() ? "." : context().output_directory;
  return {.topics = *topics_,
          .exclude = *exclude_,
          .payloads = *payloads_ == RecordedPayloads::kInline,
          .files = {.path = path_->empty() ? directory + "/recording.mcap" : *path_,
                    .number_existing = true,
                    .from_start = true,
                    .max_bytes = static_cast<std::uint64_t>(*max_bytes_),
                    .max_files = static_cast<std::uint64_t>(*max_files_),
                    .max_payload_bytes = static_cast<std::uint64_t>(*max_payload_bytes_)}};
}

void RunRecorder::on_activate() {
  thread_ = std::jthread([this](const std::stop_token& stop) { record(stop); });
  begun_.get_future().get();  // Throws the error if the recording could not begin.
}

void RunRecorder::on_finalize() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void RunRecorder::record(const std::stop_token& stop) {
  core::lower_priority();
  try {
    zmq::context_t sockets;
    recordings::RunRecording recording(sockets, visitors::own_run(), options());
    wait_for_publishers(recording);
    record_until_the_end(recording, stop);
  } catch (const std::exception& error) {
    if (!has_begun_) return begun_.set_exception(std::current_exception());
    log().error("the recording ends here; training continues: {}", error.what());
  }
}

void RunRecorder::wait_for_publishers(recordings::RunRecording& recording) {
  const auto until = Clock::now() + kSubscribeDeadline;
  while (!recording.subscribed()) {
    if (Clock::now() > until) {
      throw Error(Code::kTimeout, "not every process has accepted the subscriptions of the recorder within {} s",
                  kSubscribeDeadline.count());
    }
    recording.record_for(milliseconds(10));
  }
  has_begun_ = true;
  begun_.set_value();
}

void RunRecorder::record_until_the_end(recordings::RunRecording& recording, const std::stop_token& stop) {
  while (!stop.stop_requested() && !recording.ended()) recording.record_for(kQuiet);
  const auto until = Clock::now() + kLongestEnd;
  while (!recording.ended() && Clock::now() < until && recording.record_for(kQuiet)) {
  }
  recording.finish(recording.ended() ? "" : "the run ends");
  const recordings::Counts& counts = recording.recorder().counts();
  const std::string path = recording.recorder().path();
  if (counts.complete()) return log().info("recorded {} messages in {}", counts.arrived(), path);
  log().warn("INCOMPLETE recording in {}: {} messages arrived, {} were missed", path, counts.arrived(),
             counts.missed());
}

}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::RunRecorder, "recorder", "Records the messages of the run in an MCAP file")
