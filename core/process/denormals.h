// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainyard::core {

/// Makes this thread, and all threads that it starts later, treat denormal numbers as zero, in operands and in results.
/// Denormal numbers are those with a magnitude below 1.2e-38 (float32) or 2.2e-308 (float64). Many processors compute a
/// hundred times slower with them, and an optimizer's moments decay to such numbers. Does nothing on processors other
/// than x86-64 and 64-bit ARM.
void flush_denormals();

/// Returns true if this thread treats denormal numbers as zero.
bool flushes_denormals();

}  // namespace trainyard::core
