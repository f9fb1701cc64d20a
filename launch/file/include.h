// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launch/file/source_file.h"
#include "launch/file/value.h"

namespace trainyard::launch {

/// Merges `over` into `base`. Tables are merged key by key; any other value in `over` replaces the one in `base`. If a
/// table has a different `plugin` or `command` in `over` than in `base`, the whole table is replaced, because the old
/// parameters belong to the old plugin. However, `declaration` is kept if `over` has none.
void merge(Value& base, Value over);

/// Reads a launch file with all the files that it includes, and returns the merged table without the key "include". The
/// path of an included file is relative to the file that includes it; if there is no such file, the file of that name
/// that comes with Trainyard is used. Of several included files, a later one takes precedence over an earlier one; the
/// including file takes precedence over all of them. Throws if files include each other (the error contains the file,
/// the line and the chain of files), if files are nested more than 16 deep, or if there are more than 256 in all. If
/// `sources` is given, each file that was read is appended to it, the including file before those that it includes.
Value read_with_includes(const std::string& path, std::vector<SourceFile>* sources = nullptr);

}  // namespace trainyard::launch
