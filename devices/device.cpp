// SPDX-License-Identifier: Apache-2.0
#include "devices/device.h"

#include "messages/error.h"
#include "messages/printable.h"

namespace trainyard::devices {
namespace {

[[noreturn]] void refuse(const DeviceId& id, const char* what) {
  throw Error(Code::kUnsupported, "{} {} cannot share {} with other processes", id.kind, id.uuid, what);
}

}  // namespace

std::unique_ptr<Stream> Device::adopt_stream(std::string name, void* /*native*/) {
  throw Error(Code::kUnsupported, "{} {} cannot use streams that it has not made, such as '{}'", id_.kind, id_.uuid,
              name);
}

BlockHandle Device::export_block(const Region& /*region*/) { refuse(id_, "its memory"); }
FenceHandle Device::export_fence(const Fence& /*fence*/) { refuse(id_, "fences"); }
std::shared_ptr<Block> Device::open_block(const BlockHandle& /*handle*/) { refuse(id_, "its memory"); }
std::shared_ptr<Fence> Device::open_fence(const FenceHandle& /*handle*/) { refuse(id_, "fences"); }

void Device::check_is_own(const DeviceId& id) const {
  if (id == id_) return;
  throw Error(Code::kInvalidArgument, "a handle belongs to {} {}, and was given to {} {}", printable(id.kind),
              printable(id.uuid), id_.kind, id_.uuid);
}

}  // namespace trainyard::devices
