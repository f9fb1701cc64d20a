// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "messages/log_record.h"
#include "viewer/known_hashes.h"
#include "viewer/newest.h"

namespace trainyard::viewer {

/// Selects records of the log. An empty field does not restrict the selection.
struct LogRequest {
  std::optional<std::uint64_t> before;  ///< Only records whose numbers are smaller than this.
  std::size_t limit = 200;
  LogLevel level = LogLevel::kTrace;  ///< Only records of this level or a more important one.
  std::string component;              ///< Only records of the component with exactly this name.
  std::string text;                   ///< Only records that contain this text, ignoring case.
};

/// The log of one run. Its size is limited: the oldest records are dropped, and long texts are cut.
class LogShelf {
 public:
  static constexpr std::size_t kMaxRecords = 100'000;

  /// Adds a record. Returns false if the shelf already contains it.
  bool add(const LogRecord& record);

  /// Returns the newest of the selected records, and the number of all records so far; see docs/viewer_protocol.md.
  nlohmann::json find(const LogRequest& request) const;

  /// Returns the number that the next record will have.
  std::uint64_t end() const { return records_.end(); }
  /// Appends a push that contains the records from number `position` on, if there are any, and sets `position` to the
  /// end.
  void append_news(std::uint64_t& position, std::vector<nlohmann::json>& news) const;

 private:
  nlohmann::json json_at(std::uint64_t number) const;

  Newest<LogRecord> records_{kMaxRecords};
  KnownHashes known_{kMaxRecords};
};

}  // namespace trainyard::viewer
