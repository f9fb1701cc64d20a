// SPDX-License-Identifier: Apache-2.0
#include "viewer/ending_clues.h"

#include <optional>
#include <utility>

#include "messages/error.h"

namespace trainyard::viewer {
namespace {

/// Returns how the run ended according to the launch record, or an empty optional if no end is recorded.
std::optional<Ending> recorded_ending(const Identity& identity) {
  try {
    const auto record = record_of_launch(identity.directory, identity.run);
    if (!record) return {};
    Ending ending = ending_of(*record);
    if (is_over(ending.phase)) return ending;
  } catch (const Error&) {
    // A record that cannot be read counts as missing.
  }
  return {};
}

}  // namespace

void EndingClues::see(const Order& order) {
  if (order.kind == OrderKind::kStop) stopping_ = true;
}

// Keeps the first error. Errors that processes log after the launcher has died are not the cause of the end, so they
// are ignored.
void EndingClues::see(const LogRecord& record) {
  if (record.level < LogLevel::kError || !error_.empty() || !visitors::is_alive(run_)) return;
  error_ = record.component + ": " + record.text;
}

bool EndingClues::launcher_died() const {
  const bool done = book_.read(
      [](const Shelves& run) { return run.curves.total_steps() != 0 && run.step() >= run.curves.total_steps(); });
  return !(visitors::is_alive(run_) || stopping_ || done);
}

Ending EndingClues::ending(bool killed) const {
  if (auto recorded = recorded_ending(identity_)) return *std::move(recorded);
  if (!error_.empty()) return {RunPhase::kFailed, error_};
  if (killed) return {RunPhase::kKilled, "the launcher was killed"};
  return {RunPhase::kEnded, ""};
}

}  // namespace trainyard::viewer
