// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__SANITIZE_THREAD__)
// Functions of the thread sanitizer, which has no header for them. The arguments are the place in the source code.
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace trainyard::core {

/// While an object of this class exists, the thread sanitizer ignores what the current thread reads and writes. Use it
/// only where another thread uses the same memory before or afterwards, and messages that pass through another process
/// keep the two apart. The thread sanitizer cannot see this, and would report a race. In all other builds, the class
/// does nothing.
class OrderedElsewhere {
 public:
#if defined(__SANITIZE_THREAD__)
  OrderedElsewhere() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~OrderedElsewhere() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
#else
  OrderedElsewhere() {}  // NOLINT(modernize-use-equals-default): a variable of this class is not unused.
#endif
  OrderedElsewhere(const OrderedElsewhere&) = delete;
  OrderedElsewhere& operator=(const OrderedElsewhere&) = delete;
};

}  // namespace trainyard::core
