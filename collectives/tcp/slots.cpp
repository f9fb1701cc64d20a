// SPDX-License-Identifier: Apache-2.0
#include "collectives/tcp/slots.h"

#include <algorithm>

namespace trainyard::tcp {

bool Slots::put(std::uint64_t number, std::uint64_t finished, const Request& request, Bytes body) {
  if (number != last_ + 1 || number > finished + kCount || body.size() > bytes_) return false;
  if (slots_.empty()) {
    slots_.resize(kCount);
    bodies_.resize(kCount * bytes_);
  }
  last_ = number;
  slots_[number % kCount] = {request, body.size()};
  std::ranges::copy(body, bodies_.begin() + static_cast<std::ptrdiff_t>(number % kCount * bytes_));
  return true;
}

const Request* Slots::request(std::uint64_t number) const {
  return number > last_ ? nullptr : &slots_[number % kCount].request;
}

Bytes Slots::body(std::uint64_t number) const {
  return {bodies_.data() + number % kCount * bytes_, slots_[number % kCount].size};
}

}  // namespace trainyard::tcp
