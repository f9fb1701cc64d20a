// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Compiles a function once for each of the given x86 targets, for example TRAINYARD_TARGET_CLONES("default", "avx2").
/// One of the variants is chosen when the library is loaded. On other processors, and with the thread sanitizer, there
/// is only one variant. The sanitizer would instrument the code that chooses a variant; this code runs before the
/// sanitizer is loaded, and would crash.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define TRAINYARD_TARGET_CLONES(...) __attribute__((target_clones(__VA_ARGS__)))
#else
#define TRAINYARD_TARGET_CLONES(...)
#endif
