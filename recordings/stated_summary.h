// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "recordings/contents.h"

namespace trainyard::recordings {

/// What a file states about itself at its end: its index, its statistics and its checksums. A scan collects these
/// statements and compares them with the actual content of the file.
class StatedSummary {
 public:
  /// Receives a problem and its position in the file.
  using Find = std::function<void(std::uint64_t offset, std::string text)>;

  /// Processes the record that begins at position `begin`. Ignores records that belong neither to the summary nor to
  /// the end of the data. `found` is what the scan has found so far. An entry of the index is compared with it
  /// immediately, so that the index need not be kept.
  void take(Opcode opcode, std::string_view content, std::uint64_t begin, const Contents& found, const Find& find);

  /// Returns true if take() has received the record that ends the data and precedes the summary.
  bool data_ended() const { return data_end_.has_value(); }
  bool has_footer() const { return footer_.has_value(); }

  /// Compares the statistics and the number of chunks with `found`, and the checksums with the bytes of the file. Call
  /// this after the last take(), and only if has_footer() returns true.
  void check(const InputFile& file, const Contents& found, const Find& find) const;

 private:
  void check_chunk(const ChunkIndex& stated, std::uint64_t begin, const Contents& found, const Find& find);
  void check_statistics(const Contents& found, const Find& find) const;
  void check_data_crc(const InputFile& file, const Find& find) const;
  void check_summary_crc(const InputFile& file, const Find& find) const;

  std::optional<std::uint64_t> data_end_;  ///< The position of the record that ends the data.
  std::uint32_t data_crc_ = 0;
  std::optional<Statistics> statistics_;
  std::uint64_t statistics_at_ = 0;
  std::uint64_t chunks_ = 0;  ///< The number of chunks in the index.
  std::optional<Footer> footer_;
  std::uint64_t footer_at_ = 0;
};

}  // namespace trainyard::recordings
