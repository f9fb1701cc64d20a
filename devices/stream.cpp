// SPDX-License-Identifier: Apache-2.0
#include "devices/stream.h"

#include "devices/device.h"
#include "messages/error.h"

namespace trainyard::devices {
namespace {

void check_sizes(std::size_t to, const Region& region, std::size_t from) {
  if (to == from) return;
  throw Error(Code::kInternal, "a copy of {} has {} bytes at its end and {} at its source", region.block().what(), to,
              from);
}

}  // namespace

void Stream::check(const Region& region) const {
  const DeviceId& own = device_.id();
  const DeviceId& given = region.block().device();
  if (given == own) return;
  throw Error(Code::kInternal, "stream '{}' of {} {} was given {}, which is in the memory of {} {}", name_, own.kind,
              own.uuid, region.block().what(), given.kind, given.uuid);
}

void Stream::to_device(const Region& to, const HostRegion& from, Purpose purpose) {
  check(to);
  check_sizes(to.bytes(), to, from.bytes());
  submit_to_device(to, from, purpose);
  device_.link_bytes().add_to_device(purpose, to.bytes());
}

void Stream::to_host(const HostRegion& to, const Region& from, Purpose purpose) {
  check(from);
  check_sizes(to.bytes(), from, from.bytes());
  submit_to_host(to, from, purpose);
  device_.link_bytes().add_to_host(purpose, from.bytes());
}

void Stream::copy(const Region& to, const Region& from) {
  check(to);
  check(from);
  check_sizes(to.bytes(), to, from.bytes());
  submit_copy(to, from);
}

void Stream::zero(const Region& region) {
  check(region);
  submit_zero(region);
}

}  // namespace trainyard::devices
