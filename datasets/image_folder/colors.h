// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "datasets/image_folder/picture.h"

namespace trainyard::image_folder {

/// Converts the first three planes of a picture to red, green and blue, in place. `planes` holds three planes of
/// `pixels` bytes each, one after another. For kGrey, only the first plane is read. `black` is the fourth plane of a
/// picture with the colour model kCmyk or kYcck; it is not read for other models.
void convert_to_rgb(ColorModel model, std::uint8_t* planes, const std::uint8_t* black, std::size_t pixels);

}  // namespace trainyard::image_folder
