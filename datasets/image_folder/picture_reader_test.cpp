// SPDX-License-Identifier: Apache-2.0
#include "datasets/image_folder/picture_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/random/random.h"
#include "core/testing/python.h"
#include "datasets/testing/dataset_testing.h"
#include "datasets/testing/files.h"

namespace trainyard::image_folder {
namespace {

using testing::bytes_of;
using testing::error_of;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

using Pixels = std::vector<std::uint8_t>;

/// A Python program that writes Pillow's results for every file NAME: NAME.raw contains the picture scaled to 40 x 40,
/// one plane after another, and NAME.crop the same for the largest square in the middle.
constexpr const char* kWriteAll = R"(
import numpy, sys
from PIL import Image
folder = sys.argv[1]
rng = numpy.random.default_rng(11)
def picture(width, height, channels=3):
    coarse = rng.integers(0, 256, (7, 9, channels), dtype=numpy.uint8)
    planes = [Image.fromarray(coarse[:, :, c]).resize((width, height), Image.BICUBIC) for c in range(channels)]
    modes = {1: "L", 3: "RGB", 4: "RGBA"}
    return Image.merge(modes[channels], planes) if channels > 1 else planes[0]
def planes(image):
    return numpy.asarray(image).transpose(2, 0, 1).tobytes()
def save(name, image, **options):
    image.save(f"{folder}/{name}", **options)
    read = Image.open(f"{folder}/{name}").convert("RGB")
    open(f"{folder}/{name}.raw", "wb").write(planes(read.resize((40, 40), Image.BILINEAR)))
    edge = min(read.size)
    left, top = (read.width - edge) / 2, (read.height - edge) / 2
    cut = read.resize((40, 40), Image.BILINEAR, box=(left, top, left + edge, top + edge))
    open(f"{folder}/{name}.crop", "wb").write(planes(cut))
save("rgb.png", picture(97, 61))
save("small.png", picture(9, 13))
save("grey.png", picture(50, 80, 1))
save("alpha.png", picture(64, 64, 4))
save("palette.png", picture(70, 41).quantize(40))
save("bits.png", picture(70, 41, 1).convert("1"))
save("full.jpg", picture(75, 61), quality=95, subsampling=0)
save("half.jpg", picture(77, 53), quality=95, subsampling=2)
save("wide.jpg", picture(76, 53), quality=95, subsampling=1)
save("shrunk.jpg", picture(503, 377), quality=95)
save("tiny.jpg", picture(17, 5), quality=95)
save("progressive.jpg", picture(200, 90), quality=95, progressive=True)
save("grey.jpg", picture(120, 130, 1), quality=95)
save("cmyk.jpg", picture(70, 60).convert("CMYK"), quality=95)
)";

class PictureReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::python_has("numpy, PIL.Image"))
      GTEST_SKIP() << "needs /usr/bin/python3 with PIL (Debian: python3-pil)";
  }
  Pixels read(const std::string& path, bool crop = false, std::size_t size = 40) {
    Pixels pixels(3 * size * size);
    PictureReader({size, crop}, {}).read(path, pixels);
    return pixels;
  }
  /// Returns the mean and the largest difference from Pillow's pixels.
  static std::pair<double, int> differences(const Pixels& ours, const std::string& theirs) {
    EXPECT_EQ(ours.size(), theirs.size());
    double sum = 0;
    int largest = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const int difference = std::abs(ours[i] - static_cast<int>(static_cast<unsigned char>(theirs[i])));
      sum += difference;
      largest = std::max(largest, difference);
    }
    return {sum / static_cast<double>(ours.size()), largest};
  }

  TemporaryFolder folder_;
};

TEST_F(PictureReaderTest, PngsOfEveryKindBecomeThePixelsOfPillow) {
  testing::python(kWriteAll, folder_.path(""));
  for (const char* name : {"rgb.png", "small.png", "grey.png", "alpha.png", "palette.png", "bits.png"}) {
    for (const bool crop : {false, true}) {
      const std::string expected = bytes_of(folder_.path(std::string(name) + (crop ? ".crop" : ".raw")));
      const auto [mean, largest] = differences(read(folder_.path(name), crop), expected);
      EXPECT_LE(largest, 2) << name;  // Pillow scales columns first, so it rounds at another point.
      EXPECT_LT(mean, 0.5) << name;
    }
  }
}

/// The decoder scales the chroma planes of the file directly, and the inverse cosine transform may shrink the picture,
/// so the results are close to Pillow's but not equal.
TEST_F(PictureReaderTest, JpegsOfEveryKindAreCloseToPillow) {
  testing::python(kWriteAll, folder_.path(""));
  for (const char* name :
       {"full.jpg", "half.jpg", "wide.jpg", "shrunk.jpg", "tiny.jpg", "progressive.jpg", "grey.jpg", "cmyk.jpg"}) {
    // The picture has 17 x 5 pixels and its chroma planes only 9 x 3. With so few pixels, the two ways to interpolate
    // differ more.
    const double factor = std::string_view(name) == "tiny.jpg" ? 2.5 : 1;
    for (const bool crop : {false, true}) {
      const std::string expected = bytes_of(folder_.path(std::string(name) + (crop ? ".crop" : ".raw")));
      const auto [mean, largest] = differences(read(folder_.path(name), crop), expected);
      EXPECT_LT(mean, 1.5 * factor) << name << (crop ? " crop" : "");
      EXPECT_LT(largest, 40 * factor) << name << (crop ? " crop" : "");
    }
  }
}

TEST_F(PictureReaderTest, TheContentDecidesNotTheNameAndAReaderKeepsNothingOfEarlierFiles) {
  testing::python(kWriteAll, folder_.path(""));
  PictureReader reader({40, false}, {});
  Pixels first(4800);
  reader.read(folder_.path("half.jpg"), first);
  Pixels other(4800);
  reader.read(folder_.path("shrunk.jpg"), other);
  EXPECT_ANY_THROW(reader.read(folder_.write("cut.jpg", bytes_of(folder_.path("shrunk.jpg")).substr(0, 3000)), other));
  reader.read(folder_.path("grey.png"), other);
  Pixels again(4800);
  reader.read(folder_.write("picture.png", bytes_of(folder_.path("half.jpg"))), again);
  EXPECT_EQ(again, first);
}

TEST_F(PictureReaderTest, AFileCutOffAnywhereIsNamedWithTheOffset) {
  testing::python(kWriteAll, folder_.path(""));
  for (const char* name : {"rgb.png", "half.jpg", "progressive.jpg", "grey.jpg"}) {
    const std::string whole = bytes_of(folder_.path(name));
    for (std::size_t size = 0; size < whole.size() - 2; size += 1 + size / 40) {
      const std::string path = folder_.write("cut", whole.substr(0, size));
      const auto [code, message] = error_of([&] { read(path); });
      EXPECT_EQ(code, Code::kCorrupt) << name << " " << size;
      EXPECT_THAT(message, HasSubstr(path + " at offset ")) << name << " " << size;
      const std::uint64_t offset = std::stoull("0" + message.substr(std::min(message.size(), path.size() + 11)));
      EXPECT_LE(offset, size) << message;
    }
  }
}

TEST_F(PictureReaderTest, AFileWithChangedBitsIsReadOrNamedAndNothingElse) {
  testing::python(kWriteAll, folder_.path(""));
  PictureReader reader({40, false}, {});
  Pixels pixels(4800);
  int refused_pngs = 0, refused_jpegs = 0;
  for (const char* name : {"rgb.png", "palette.png", "half.jpg", "progressive.jpg", "cmyk.jpg"}) {
    const std::string whole = bytes_of(folder_.path(name));
    for (std::uint64_t i = 0; i < 400; ++i) {
      std::string changed = whole;
      for (std::uint64_t flip = 0; flip <= i % 3; ++flip) {
        const std::uint64_t reach =
            i % 2 == 0 ? whole.size() : std::min<std::size_t>(whole.size(), 200);  // Headers are tested more often.
        const std::uint64_t bit = random_below(random_bits(i * 4 + flip, 5), reach * 8);
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
      }
      const std::string path = folder_.write("changed", changed);
      try {
        reader.read(path, pixels);
      } catch (const Error& error) {
        ++(std::string_view(name).ends_with(".png") ? refused_pngs : refused_jpegs);
        EXPECT_TRUE(error.code() == Code::kCorrupt || error.code() == Code::kUnsupported) << error.what();
        EXPECT_THAT(error.what(), HasSubstr(path));
      }
    }
  }
  EXPECT_GT(refused_pngs, 780);  // There are 800. Every chunk has a checksum, so nearly all changes are found.
  // JPEG files have no checksums: many changed bits just give a slightly different picture. Only a change that breaks
  // the Huffman codes is detected.
  EXPECT_GT(refused_jpegs, 300);
}

TEST_F(PictureReaderTest, AHeaderThatClaimsTooMuchIsRefusedBeforeMemoryIsTaken) {
  testing::python(R"(
import struct, sys, zlib
from PIL import Image
folder = sys.argv[1]
Image.new("RGB", (16, 16)).save(f"{folder}/a.jpg")
jpeg = bytearray(open(f"{folder}/a.jpg", "rb").read())
at = jpeg.index(b"\xff\xc0")
for name, edge in ("huge", 65500), ("large", 8000):
    jpeg[at + 5:at + 9] = struct.pack(">HH", edge, edge)
    open(f"{folder}/{name}.jpg", "wb").write(jpeg)
Image.new("RGB", (16, 16)).save(f"{folder}/a.png")
png = bytearray(open(f"{folder}/a.png", "rb").read())
for name, edge in ("huge", 500000), ("large", 8000):
    png[16:24] = struct.pack(">II", edge, edge)
    png[29:33] = struct.pack(">I", zlib.crc32(png[12:29]))
    open(f"{folder}/{name}.png", "wb").write(png)
)",
                  folder_.path(""));
  const auto message = [&](const char* name) { return error_of([&] { read(folder_.path(name)); }).second; };
  EXPECT_THAT(message("huge.jpg"),
              HasSubstr("claims 65500 x 65500 pixels; allowed: 1 to 67108864 in all (max_pixels)"));
  EXPECT_THAT(message("huge.png"), HasSubstr("at offset 33: the header claims 500000 x 500000 pixels; allowed"));
  EXPECT_THAT(message("large.jpg"), HasSubstr("claims 8000 x 8000 pixels, more than"));
  EXPECT_THAT(message("large.png"), HasSubstr("claims 8000 x 8000 pixels, more than"));
}

TEST(PictureFileTest, WhatIsNoPictureIsNamedWithItsFirstBytes) {
  TemporaryFolder folder;
  PictureReader reader({8, false}, {});
  Pixels pixels(192);
  const auto refusal = [&](const std::string& path) { return error_of([&] { reader.read(path, pixels); }); };
  const std::string gif = folder.write("a.png", "GIF89a");
  EXPECT_EQ(refusal(gif).second,
            gif + " at offset 0: starts with 47 49 46 38 39 61; allowed: JPEG (ff d8 ff), PNG (89 50 4e 47 ...)");
  EXPECT_EQ(refusal(folder.write("empty.png", "")).first, Code::kCorrupt);
  EXPECT_EQ(refusal(folder.path("nothing.png")).first, Code::kNotFound);
  EXPECT_EQ(refusal(folder.path("")).first, Code::kIo);
}

}  // namespace
}  // namespace trainyard::image_folder
