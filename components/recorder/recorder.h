// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "core/component/component.h"
#include "recordings/run_recording.h"

namespace trainyard {

/// Whether a recording contains only the dtypes and shapes of tensors (kNone), or also their bytes (kInline).
enum class RecordedPayloads : std::uint8_t { kNone, kInline };
constexpr auto words_of(RecordedPayloads) { return words("kind of payloads", "none", "inline"); }

/// The component that records the messages of the run into an MCAP file, from the first message on.
///
/// It has no inputs or outputs. A separate thread with a low priority receives the messages as a program outside the
/// run would, so the recorder neither slows training down nor makes a component wait. If the file cannot be created, or
/// a topic does not exist, the run does not start. If the recording fails later, for instance because the disk is full,
/// the recorder logs one error, and training continues without it.
class RunRecorder final : public Component {
 public:
  static inline const ComponentTraits kTraits{.thread = "recorder"};

  explicit RunRecorder(ComponentContext& context);
  ~RunRecorder() override;

 protected:
  /// Starts the thread, and returns when every publisher has accepted the subscriptions. The components that produce
  /// data are activated later, so no message is missed.
  void on_activate() override;
  void on_finalize() override;

 private:
  recordings::RunRecordingOptions options() const;
  // The function of the recorder's thread.
  void record(const std::stop_token& stop);
  // Sets `begun_` when every publisher has accepted the subscriptions.
  void wait_for_publishers(recordings::RunRecording& recording);
  void record_until_the_end(recordings::RunRecording& recording, const std::stop_token& stop);

  Parameter<std::string> path_{
      *this, "path", "",
      "the file; default: recording.mcap in the run's output directory. If it exists, a number "
      "is appended to the name"};
  Parameter<std::vector<std::string>> topics_{*this, "topics", std::vector<std::string>{},
                                              "names of topics, or patterns with *; default: all topics"};
  Parameter<std::vector<std::string>> exclude_{*this, "exclude", std::vector<std::string>{},
                                               "names or patterns of topics that are not recorded"};
  Parameter<RecordedPayloads> payloads_{*this, "payloads", RecordedPayloads::kNone,
                                        "none: of tensors only the dtypes and shapes; inline: their bytes, too"};
  Parameter<std::int64_t> max_payload_bytes_{*this, "max_payload_bytes", 16 << 20,
                                             "with inline: the largest payloads of a message that are recorded",
                                             at_least(1) | in_unit("bytes")};
  Parameter<std::int64_t> max_bytes_{*this, "max_bytes", 1 << 30,
                                     "the size at which the next file is begun; 0 = one file of any size",
                                     at_least(0) | in_unit("bytes")};
  Parameter<std::int64_t> max_files_{*this, "max_files", 8,
                                     "when there are more files, the oldest is deleted; 0 = none is", at_least(0)};

  std::promise<void> begun_;
  bool has_begun_ = false;  ///< True if `begun_` has been set. Used only by the recorder's thread.
  std::jthread thread_;
};

}  // namespace trainyard
