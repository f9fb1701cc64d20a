// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recordings/contents.h"
#include "recordings/files.h"

namespace trainyard::recordings {

/// A problem that was found in a file.
struct Finding {
  std::uint64_t offset = 0;  ///< The position in the file.
  std::string text;
};

/// The result of scan().
struct Scan {
  /// Everything that is undamaged. The statistics are computed by the scan, and not read from the file.
  Contents contents;
  /// The first kMostFindings problems that were found: damaged parts, and parts that contradict each other.
  std::vector<Finding> findings;
  std::uint64_t all_findings = 0;  ///< The number of all problems, including those not in `findings`.
  std::uint64_t lost_bytes = 0;    ///< The number of bytes that could not be read.
  bool has_end = false;            ///< True if the file has a footer and ends with kMagic.
};

/// The maximum number of findings that are kept. It bounds the memory that a badly damaged file needs.
constexpr std::size_t kMostFindings = 100;

/// Reads the whole file from its beginning, without using its index, and compares the checksums, the index and the
/// statistics with the content. If a part is damaged, the scan continues with the next chunk after it. There are no
/// findings if and only if the file has no errors. Throws kCorrupt if the file does not begin with kMagic, and kIo if
/// it cannot be read.
Scan scan(const InputFile& file);

}  // namespace trainyard::recordings
