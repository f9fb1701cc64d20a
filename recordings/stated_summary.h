// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "recordings/contents.h"

namespace trainyard::recordings {

/// What the end of a file says about the file: its index, its statistics and its checksums. A scan collects it, and
/// then holds it against what it has found.
class StatedSummary {
 public:
  /// A function that takes note of something that is wrong, and where.
  using Find = std::function<void(std::uint64_t offset, std::string text)>;

  /// Takes a record that begins at `begin`; those that belong neither to the summary nor to the end of the data are
  /// ignored. Chunks that the index names are compared at once, so that the index need not be kept.
  void take(Opcode opcode, std::string_view content, std::uint64_t begin, const Contents& found, const Find& find);

  /// Returns true after the end of the data: what follows is the summary.
  bool data_ended() const { return data_end_.has_value(); }
  bool has_footer() const { return footer_.has_value(); }

  /// Compares the statistics, the number of chunks and the checksums. The file must have a footer.
  void check(const InputFile& file, const Contents& found, const Find& find) const;

 private:
  void check_chunk(const ChunkIndex& stated, std::uint64_t begin, const Contents& found, const Find& find);
  void check_statistics(const Contents& found, const Find& find) const;
  void check_data_crc(const InputFile& file, const Find& find) const;
  void check_summary_crc(const InputFile& file, const Find& find) const;

  std::optional<std::uint64_t> data_end_;  ///< Where the record is that ends the data.
  std::uint32_t data_crc_ = 0;
  std::optional<Statistics> statistics_;
  std::uint64_t statistics_at_ = 0;
  std::uint64_t chunks_ = 0;  ///< The number of chunks in the index.
  std::optional<Footer> footer_;
  std::uint64_t footer_at_ = 0;
};

}  // namespace trainyard::recordings
