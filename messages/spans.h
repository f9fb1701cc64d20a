// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "messages/span_kind.h"

namespace trainyard {

/// The topic of all spans except those of LibTorch's operations. A process records spans only while this topic or
/// kOperationsTopic has a subscriber.
inline constexpr const char* kSpansTopic = "/spans";
/// The topic of the spans of LibTorch's operations (SpanKind::kOperation). They have a separate topic because they are
/// very numerous.
inline constexpr const char* kOperationsTopic = "/operations";
/// Returns true for kSpansTopic and kOperationsTopic. A program that subscribes to all topics of a run must leave these
/// two out unless its user names them: a subscription to them makes the processes record spans, which takes time.
inline bool is_topic_of_spans(std::string_view topic) { return topic == kSpansTopic || topic == kOperationsTopic; }

/// A component whose spans are in the message Spans.
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

/// Something that a component did or waited for, with the times at which it began and ended. The times are nanoseconds
/// of CLOCK_MONOTONIC, which all processes of a host share.
struct Span {
  static constexpr const char* kTypeName = "Span";

  SpanKind kind = SpanKind::kHandler;
  std::uint32_t source = 0;  ///< The index of the component in Spans::sources.
  /// The index of the span's name in Spans::names. For example, the name of a hop is the message type, such as "Batch",
  /// and the name of a wait is its kind, such as "room".
  std::uint32_t name = 0;
  /// The index in Spans::names of what the span refers to. For a handler or a hop, this is the name of the component
  /// that sent the message. For a wait, it is the name of the component that was waited for; if the wait was not for a
  /// component, it is the kind of wait, such as "device". In all other cases, it is an empty string.
  std::uint32_t peer = 0;
  std::uint32_t own_thread = 0;  ///< 0 for the event loop; 1, 2, ... for the component's own threads.
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

/// Spans of one process. Each message is complete in itself, because a reader may miss other messages.
struct Spans {
  static constexpr const char* kTypeName = "Spans";

  std::string process;
  std::int32_t pid = 0;
  std::vector<SpanSource> sources;
  std::vector<std::string> names;
  std::vector<Span> spans;
  /// The number of spans that have been lost since the recording began, because they were recorded faster than the
  /// process published them.
  std::uint64_t lost = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process), CEREAL_NVP(pid), CEREAL_NVP(sources), CEREAL_NVP(names), CEREAL_NVP(spans),
            CEREAL_NVP(lost));
  }
};

}  // namespace trainyard
