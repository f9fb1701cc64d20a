// SPDX-License-Identifier: Apache-2.0
#include "core/process/denormals.h"

#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace trainyard::core {

#if defined(__x86_64__)

namespace {

/// The bits "flush to zero" (for results) and "denormals are zero" (for operands) of the register MXCSR.
constexpr unsigned kFlush = 0x8000 | 0x0040;

}  // namespace

void flush_denormals() { ::_mm_setcsr(::_mm_getcsr() | kFlush); }

bool flushes_denormals() { return (::_mm_getcsr() & kFlush) == kFlush; }

#elif defined(__aarch64__)

namespace {

/// The bit FZ of the floating-point control register, which applies to operands and results.
constexpr std::uint64_t kFlush = 1ULL << 24;

std::uint64_t control_register() {
  std::uint64_t value = 0;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}

}  // namespace

void flush_denormals() { asm volatile("msr fpcr, %0" : : "r"(control_register() | kFlush)); }

bool flushes_denormals() { return (control_register() & kFlush) != 0; }

#else

void flush_denormals() {}

bool flushes_denormals() { return false; }

#endif

}  // namespace trainyard::core
