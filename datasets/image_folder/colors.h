#pragma once

#include <cstddef>
#include <cstdint>

#include "datasets/image_folder/picture.h"

namespace trainyard {

/// Turns three planes of `pixels` bytes, one behind another, into red, green and blue, in place. Grey is taken from the
/// first plane. `black` is the fourth plane of kCmyk and kYcck, else not looked at.
void convert_to_rgb(ColorModel model, std::uint8_t* planes, const std::uint8_t* black, std::size_t pixels);

}  // namespace trainyard
