// SPDX-License-Identifier: Apache-2.0
#include "core/component/boundary.h"

#include <exception>
#include <new>

#include "messages/error.h"

namespace trainyard {
namespace {

/// Removes the text "Exception raised from ... (most recent call first): frame #0 ..." that LibTorch appends, because
/// it does not help users.
std::string without_backtrace(std::string text) {
  for (const char* marker : {"\nException raised from", "\nframe #0"}) {
    if (const auto at = text.find(marker); at != std::string::npos) text.resize(at);
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace

// The exception is rethrown and caught again here, so that callers need only `catch (...)` and no list of exception
// types.
std::string describe_current_exception() {
  try {
    throw;
  } catch (const Error& error) {
    return error.what();
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return without_backtrace(error.what());
  } catch (...) {
    return "threw something that is not a std::exception";
  }
}

}  // namespace trainyard
