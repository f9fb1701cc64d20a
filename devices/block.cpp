// SPDX-License-Identifier: Apache-2.0
#include "devices/block.h"

#include <string_view>

#include "messages/error.h"

namespace trainyard::devices {
namespace {

void check_range(std::size_t offset, std::size_t bytes, std::size_t all, std::string_view what) {
  if (offset <= all && bytes <= all - offset) return;
  throw Error(Code::kInternal, "bytes {} to {} of {} were asked for, which has {} bytes", offset, offset + bytes, what,
              all);
}

}  // namespace

Region::Region(std::shared_ptr<Block> block) : block_(std::move(block)), offset_(0), bytes_(block_->bytes()) {}

Region::Region(std::shared_ptr<Block> block, std::size_t offset, std::size_t bytes)
    : block_(std::move(block)), offset_(offset), bytes_(bytes) {
  check_range(offset, bytes, block_->bytes(), block_->what());
}

Region Region::part(std::size_t offset, std::size_t bytes) const {
  check_range(offset, bytes, bytes_, block_->what());
  return {block_, offset_ + offset, bytes};
}

HostRegion::HostRegion(Buffer buffer, std::size_t offset, std::size_t bytes)
    : buffer_(std::move(buffer)), offset_(offset), bytes_(bytes) {
  check_range(offset, bytes, buffer_.size(), "host memory");
}

}  // namespace trainyard::devices
