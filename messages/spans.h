// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "messages/span_kind.h"

namespace trainyard {

/// The topic of the spans of a run, except those of operations. A process records spans only while one of these two
/// topics has a subscriber.
inline constexpr const char* kSpansTopic = "/spans";
/// The topic of the operations of LibTorch (SpanKind::kOperation), which are many.
inline constexpr const char* kOperationsTopic = "/operations";
/// Returns true for these two topics. Whoever listens to "all topics" must not mean them, because listening to them is
/// what makes processes record spans.
inline bool is_topic_of_spans(std::string_view topic) { return topic == kSpansTopic || topic == kOperationsTopic; }

/// A component of the process that publishes spans.
struct SpanSource {
  static constexpr const char* kTypeName = "SpanSource";

  std::string component;  ///< The full name, such as "rank0/optimizer".
  std::string thread;     ///< The name of its event loop.
  std::uint32_t rank = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(component), CEREAL_NVP(thread), CEREAL_NVP(rank));
  }
};

/// What a component did, or waited for, from one time to another. The times are nanoseconds of CLOCK_MONOTONIC, which
/// all processes of a host share.
struct Span {
  static constexpr const char* kTypeName = "Span";

  SpanKind kind = SpanKind::kHandler;
  std::uint32_t source = 0;  ///< The index of the component in Spans::sources.
  std::uint32_t name = 0;    ///< The index in Spans::names, such as of "Batch" for a hop, or "room" for a wait.
  /// The index in Spans::names of the component that sent the message, or that is waited for; of an empty text if there
  /// is none.
  std::uint32_t peer = 0;
  std::uint32_t own_thread = 0;  ///< 0 for the event loop; otherwise the number of one of the component's own threads.
  std::uint64_t step = 0;        ///< The number of the step; 0 if the component does not know it.
  std::uint64_t trace = 0;       ///< The number of the batch (Header::trace); 0 if there is none.
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(kind), CEREAL_NVP(source), CEREAL_NVP(name), CEREAL_NVP(peer), CEREAL_NVP(own_thread),
            CEREAL_NVP(step), CEREAL_NVP(trace), CEREAL_NVP(begin_ns), CEREAL_NVP(end_ns));
  }
};

/// Spans that have ended in one process. Each message can be understood by itself, since a reader may miss others.
struct Spans {
  static constexpr const char* kTypeName = "Spans";

  std::string process;
  std::int32_t pid = 0;
  std::vector<SpanSource> sources;
  std::vector<std::string> names;
  std::vector<Span> spans;
  /// The number of spans that were lost since the recording began, because they came faster than they were published.
  std::uint64_t lost = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process), CEREAL_NVP(pid), CEREAL_NVP(sources), CEREAL_NVP(names), CEREAL_NVP(spans),
            CEREAL_NVP(lost));
  }
};

}  // namespace trainyard
