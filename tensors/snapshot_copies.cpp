// SPDX-License-Identifier: Apache-2.0
#include "tensors/snapshot_copies.h"

#include <chrono>

#include "messages/error.h"

namespace trainyard {
namespace {

/// How long the destructor waits. Copies that another process holds up do not end.
constexpr std::chrono::seconds kAtTheEnd{5};

}  // namespace

SnapshotCopies::SnapshotCopies(const NativeDevice& native)
    : native_(native),
      stream_(native.device->make_stream("snapshot")),
      computed_(native.device->make_fence()),
      copied_(native.device->make_fence()) {}

SnapshotCopies::~SnapshotCopies() {
  try {
    stream_->drain(kAtTheEnd);
  } catch (const Error&) {
    // The run has failed already, and its error says why.
  }
}

void SnapshotCopies::begin(const MirroredBlock& buffers, std::span<const MirroredBlock* const> others) {
  constexpr devices::Purpose kPurpose = devices::Purpose::kSnapshot;
  ++begun_;
  native_.stream->signal(computed_, begun_);
  stream_->wait(computed_, begun_);
  buffers.submit_to_host(*stream_, kPurpose);
  stream_->signal(copied_, 2 * begun_ - 1);
  if (!buffers.empty()) native_.stream->wait(copied_, 2 * begun_ - 1);
  for (const MirroredBlock* block : others) block->submit_to_host(*stream_, kPurpose);
  stream_->signal(copied_, 2 * begun_);
}

void SnapshotCopies::hold_changes() {
  if (held_ == begun_) return;
  held_ = begun_;
  native_.stream->wait(copied_, 2 * held_);
}

}  // namespace trainyard
