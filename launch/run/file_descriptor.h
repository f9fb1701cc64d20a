// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/files/file_descriptor.h"

namespace trainyard::launch {

using core::FileDescriptor;

/// Both ends of a pipe.
struct Pipe {
  FileDescriptor reader;
  FileDescriptor writer;
};

/// Makes a pipe whose ends are closed on exec. Throws kIo if the system cannot make one.
Pipe make_pipe();

}  // namespace trainyard::launch
