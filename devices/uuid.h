// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

namespace trainyard::devices {

/// Returns the 16 bytes of a UUID as text, such as "6f7a3c5e-0d1b-4f7e-9a53-2b1c8d90e4f6". The accelerator and the
/// device plugin for one kind of device both use it, so that they give a device the same name (DeviceId::uuid).
std::string uuid_text(std::span<const char, 16> bytes);

}  // namespace trainyard::devices
