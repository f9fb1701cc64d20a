// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "datasets/image_folder/picture.h"

namespace trainyard::image_folder {

/// Converts three planes of `pixels` bytes each, which follow one another in `planes`, into red, green and blue, in
/// place. A grey picture is in the first plane. `black` is the fourth plane of kCmyk and kYcck, and is not read for
/// other models.
void convert_to_rgb(ColorModel model, std::uint8_t* planes, const std::uint8_t* black, std::size_t pixels);

}  // namespace trainyard::image_folder
