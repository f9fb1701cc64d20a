// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recordings/contents.h"
#include "recordings/files.h"

namespace trainyard::recordings {

/// Something that is wrong in a file.
struct Finding {
  std::uint64_t offset = 0;  ///< Where in the file.
  std::string text;
};

/// The result of scan().
struct Scan {
  Contents contents;  ///< Everything that is whole. The statistics are counted, not read.
  /// What is damaged or does not fit together, in the order of the file; only the first kMostFindings.
  std::vector<Finding> findings;
  std::uint64_t all_findings = 0;
  std::uint64_t lost_bytes = 0;  ///< The size of what could not be read.
  bool has_end = false;          ///< True if the file has a footer and ends as MCAP files do.
};

/// The number of findings that are kept, so that a file of garbage needs no more memory than another.
constexpr std::size_t kMostFindings = 100;

/// Reads the whole file from its beginning, without using its index, and holds everything against everything else:
/// checksums, and the index and the statistics against the content. A damaged part is skipped: the scan continues with
/// the next chunk after it. The findings are empty if and only if the file is as it should be. Throws kCorrupt if the
/// file does not begin as MCAP files do, and kIo if it cannot be read.
Scan scan(const InputFile& file);

}  // namespace trainyard::recordings
