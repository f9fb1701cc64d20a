// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "messages/log_record.h"
#include "messages/words.h"

namespace trainyard::viewer {

/// What a run is doing, or how it ended.
enum class RunPhase : std::uint8_t {
  kStarting,
  kRunning,
  kPaused,
  kEnded,
  kFailed,
  kInterrupted,  ///< A user stopped it.
  kKilled,       ///< The launcher was killed.
  kUnknown,      ///< It is over, and nothing says how it ended.
  kRecording,    ///< What is shown comes from a recording, which need not know how the run ended.
};
constexpr auto words_of(RunPhase) {
  return words("state of a run", "starting", "running", "paused", "ended", "failed", "interrupted", "killed", "unknown",
               "recording");
}
inline bool is_over(RunPhase phase) { return phase >= RunPhase::kEnded; }

/// A prediction of the model, as it can be shown.
struct Sample {
  std::uint64_t step = 0;
  std::string title;
  std::string text;
  nlohmann::json tensors = nlohmann::json::array();  ///< The dtype and shape of each tensor.
  std::string image;                                 ///< A PNG image in base64, or empty.
  /// For a sample of an evaluation: `split`, `index`, `right`, `predicted` and `probability`; otherwise null.
  nlohmann::json result;
};

/// Reads a Prediction in its JSON form. Throws nlohmann::json::exception.
Sample sample_of(const nlohmann::json& prediction);

/// A parameter that somebody changed through the viewer, or an action such as "pause", which has no values.
struct Change {
  std::int64_t time_ns = 0;
  std::uint64_t step = 0;
  std::string component;
  std::string name;
  nlohmann::json from, to;
  std::string who;
};

/// What an alert is about.
enum class AlertKind : std::uint8_t { kNan, kSpike, kPlateau, kSlowRank, kDisk, kDropped };
constexpr auto words_of(AlertKind) {
  return words("kind of alert", "nan", "spike", "plateau", "slow rank", "disk", "dropped");
}
enum class Severity : std::uint8_t { kWarning, kError };
constexpr auto words_of(Severity) { return words("severity", "warning", "error"); }

/// Something about a run that somebody should know.
struct Alert {
  std::int64_t time_ns = 0;
  std::uint64_t step = 0;
  AlertKind kind = AlertKind::kNan;
  Severity severity = Severity::kWarning;
  std::string text;
};

nlohmann::json json_of(const Change& change);
/// Reads what json_of() has made. Throws nlohmann::json::exception.
Change change_of(const nlohmann::json& object);
nlohmann::json json_of(const Alert& alert);

/// The newest elements of a sequence, with their numbers: 0 for the first that was ever added. Older ones are
/// forgotten.
template <class T>
class Newest {
 public:
  explicit Newest(std::size_t limit) : limit_(limit) {}

  void add(T element) {
    elements_.push_back(std::move(element));
    if (elements_.size() <= limit_) return;
    elements_.pop_front();
    ++first_;
  }
  std::uint64_t first() const { return first_; }                   ///< The number of the oldest element kept.
  std::uint64_t end() const { return first_ + elements_.size(); }  ///< The number of the next element.
  const T& at(std::uint64_t number) const { return elements_[static_cast<std::size_t>(number - first_)]; }

 private:
  std::size_t limit_;
  std::uint64_t first_ = 0;
  std::deque<T> elements_;
};

}  // namespace trainyard::viewer
