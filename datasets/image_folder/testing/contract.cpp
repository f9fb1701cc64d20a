// SPDX-License-Identifier: Apache-2.0
#include "datasets/testing/contract.h"

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace trainyard::testing {
namespace {

std::string big_endian(std::uint32_t number) {
  return {static_cast<char>(number >> 24), static_cast<char>(number >> 16), static_cast<char>(number >> 8),
          static_cast<char>(number)};
}

std::string chunk(std::string_view type, const std::string& data) {
  const std::string body = std::string(type) + data;
  std::uint32_t sum = 0xffffffff;  // This is the CRC-32, computed bit by bit.
  for (const char byte : body) {
    sum ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0xedb88320 : 0);
  }
  return big_endian(static_cast<std::uint32_t>(data.size())) + body + big_endian(~sum);
}

/// Returns a PNG file with one grey pixel, whose data is stored without compression.
std::string png(std::uint8_t grey) {
  using namespace std::string_literals;
  // The checksum of the bytes 0 and `grey`.
  const std::uint32_t adler = std::uint32_t{1u + 1u + grey} << 16 | (1u + grey);
  const std::string stored = "\x78\x01\x01\x02\x00\xfd\xff\x00"s + static_cast<char>(grey) + big_endian(adler);
  return "\x89PNG\r\n\x1a\n"s + chunk("IHDR", big_endian(1) + big_endian(1) + "\x08\x00\x00\x00\x00"s) +
         chunk("IDAT", stored) + chunk("IEND", "");
}

const DatasetContract image_folder("image_folder", [](const TemporaryFolder& folder) {
  for (int i = 0; i < 20; ++i) {
    folder.write(fmt::format("whole/{}/{:02}.png", i % 2 == 0 ? "cat" : "dog", i),
                 png(static_cast<std::uint8_t>(9 * i)));
  }
  folder.write("cut/cat/1.png", png(1));
  const std::string broken = folder.write("cut/dog/2.png", png(2).substr(0, 40));
  const auto parameters = [&](const char* name, double validate) {
    return fmt::format(R"({{"folder": "{}", "size": 4, "validate_fraction": {}}})", folder.path(name), validate);
  };
  return DatasetCase{.parameters = parameters("whole", 0.3), .broken = {{parameters("cut", 0), broken}}};
});

}  // namespace
}  // namespace trainyard::testing
