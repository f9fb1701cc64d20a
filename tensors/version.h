#pragma once

#include <torch/version.h>

// Every difference between the LibTorch versions that are supported (1.13 of Debian 12, 2.6 of Debian 13, upstream) is
// decided here and nowhere else.

/// True from LibTorch `major`.`minor` on.
#define TRAINYARD_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) || (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))
