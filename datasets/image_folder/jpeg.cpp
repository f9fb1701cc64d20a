// SPDX-License-Identifier: Apache-2.0
#include "datasets/image_folder/jpeg.h"

// libjpeg's header requires these headers before it.
#include <cstddef>
#include <cstdio>
// clang-format off
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdint>
#include <vector>

#include "datasets/image_folder/limits.h"
#include "messages/error.h"

namespace trainyard::image_folder {
namespace {

constexpr int kBlock = 8;  ///< The number of rows and columns of a block; scales are eighths.

/// The largest number of scans. A progressive file can contain a scan for every bit of every coefficient, but a file
/// with thousands of scans was only made to waste time.
constexpr int kMostScans = 500;

/// The largest number of pixels that one byte of a JPEG file can encode. With Huffman codes, a block of 64 pixels takes
/// at least one bit.
constexpr std::uint64_t kMostJpegPixelsPerByte = 512;

#if JPEG_LIB_VERSION >= 70
int block_size(const jpeg_component_info& component) { return component.DCT_h_scaled_size; }
int smallest_block(const jpeg_decompress_struct& info) { return info.min_DCT_h_scaled_size; }
#else
int block_size(const jpeg_component_info& component) { return component.DCT_scaled_size; }
int smallest_block(const jpeg_decompress_struct& info) { return info.min_DCT_scaled_size; }
#endif

/// Returns true if a warning of libjpeg is harmless. If data is damaged, libjpeg only warns, and makes up pixels. Stray
/// bytes are harmless between the parts of a header, but among the pixels they mean that the decoder has lost its
/// position.
bool is_harmless(int warning, bool in_header) {
  if (warning == JWRN_EXTRANEOUS_DATA) return in_header;
  return warning == JWRN_ADOBE_XFORM || warning == JWRN_JFIF_MAJOR || warning == JWRN_BOGUS_PROGRESSION;
}

}  // namespace

/// The state of libjpeg. The library reports errors by calling a function that must not return, so this function jumps
/// out of the library to `jump` with longjmp. No stack frame in between may contain an object with a destructor, which
/// is the reason for the form of the code that calls the library.
struct JpegDecoder::State {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf jump{};
  std::array<char, JMSG_LENGTH_MAX> message{};
  std::uint64_t offset = 0;
  std::uint64_t file_bytes = 0;
  bool in_header = false;
  std::array<std::vector<JSAMPLE>, 4> pixels;

  static State& of(j_common_ptr any) { return *static_cast<State*>(any->client_data); }

  [[noreturn]] static void leave(j_common_ptr any) {
    State& state = of(any);
    (*any->err->format_message)(any, state.message.data());
    const std::uint64_t left = state.info.src == nullptr ? 0 : state.info.src->bytes_in_buffer;
    state.offset = state.file_bytes - std::min(left, state.file_bytes);
    std::longjmp(state.jump, 1);
  }
  static void on_message(j_common_ptr any, int level) {
    if (level < 0 && !is_harmless(any->err->msg_code, of(any).in_header)) leave(any);
  }
  static void on_progress(j_common_ptr any) {
    if (of(any).info.input_scan_number > kMostScans) ERREXIT1(any, JERR_BAD_PROGRESSION, kMostScans);
  }

  /// Runs `work`, which calls the library. Returns false if the library has reported an error and `work` was therefore
  /// abandoned.
  template <class Work>
  bool guarded(Work work) {
    if (setjmp(jump) != 0) return false;
    work();
    return true;
  }

  bool read_header(std::span<const std::byte> file);
  void choose_scale(std::size_t least);
  bool start() {
    return guarded([this] { jpeg_start_decompress(&info); });
  }
  void make_room();
  bool read_rows();
  ColorModel model(const std::string& path) const;
  Picture picture(ColorModel model) const;
};

JpegDecoder::JpegDecoder() : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.info.err = jpeg_std_error(&state.errors);
  state.errors.error_exit = &State::leave;
  state.errors.emit_message = &State::on_message;
  state.progress.progress_monitor = &State::on_progress;
  // This is set before the first call of the library, which may already fail. jpeg_create_decompress does not change
  // it.
  state.info.client_data = &state;
  const bool made = state.guarded([&] { jpeg_create_decompress(&state.info); });
  if (!made) throw Error(Code::kInternal, "libjpeg cannot be used: {}", state.message.data());
  state.info.progress = &state.progress;
}

JpegDecoder::~JpegDecoder() { jpeg_destroy_decompress(&state_->info); }

bool JpegDecoder::State::read_header(std::span<const std::byte> file) {
  file_bytes = file.size();
  const auto* bytes = reinterpret_cast<const unsigned char*>(file.data());
  in_header = true;
  const bool done = guarded([&] {
    jpeg_mem_src(&info, bytes, static_cast<unsigned long>(file.size()));
    jpeg_read_header(&info, TRUE);
  });
  in_header = false;
  return done;
}

/// Chooses the scale at which libjpeg decodes the picture: the smallest scale at which the picture still has `least`
/// rows and columns, among those for which libjpeg-turbo has vector code.
void JpegDecoder::State::choose_scale(std::size_t least) {
  const std::size_t shorter = std::min(info.image_width, info.image_height);
  info.scale_denom = kBlock;
  info.scale_num = kBlock;
  for (const unsigned eighths : {4u, 2u, 1u}) {
    if (shorter * eighths / kBlock >= least) info.scale_num = eighths;
  }
  info.out_color_space = info.jpeg_color_space;  // This avoids a colour conversion.
  info.raw_data_out = TRUE;
}

/// Allocates the planes. Their sizes are rounded up to whole blocks, because libjpeg's raw data consists of whole
/// blocks.
void JpegDecoder::State::make_room() {
  for (int i = 0; i < info.num_components; ++i) {
    const jpeg_component_info& component = info.comp_info[i];
    const std::size_t edge = static_cast<std::size_t>(block_size(component));
    const std::size_t rows = info.total_iMCU_rows * static_cast<std::size_t>(component.v_samp_factor) * edge;
    pixels[static_cast<std::size_t>(i)].resize(rows * component.width_in_blocks * edge);
  }
}

bool JpegDecoder::State::read_rows() {
  return guarded([this] {
    // At most 4 blocks of at most 16 rows are read at once.
    JSAMPROW rows[4][64];
    JSAMPARRAY planes[4] = {rows[0], rows[1], rows[2], rows[3]};
    const int lines = info.max_v_samp_factor * smallest_block(info);
    for (JDIMENSION band = 0; band < info.total_iMCU_rows; ++band) {
      for (int i = 0; i < info.num_components; ++i) {
        const jpeg_component_info& component = info.comp_info[i];
        const int count = component.v_samp_factor * block_size(component);
        const std::size_t stride = component.width_in_blocks * static_cast<std::size_t>(block_size(component));
        JSAMPROW row = pixels[static_cast<std::size_t>(i)].data() + band * static_cast<std::size_t>(count) * stride;
        for (int line = 0; line < count; ++line, row += stride) rows[i][line] = row;
      }
      jpeg_read_raw_data(&info, planes, static_cast<JDIMENSION>(lines));
    }
    jpeg_finish_decompress(&info);
  });
}

ColorModel JpegDecoder::State::model(const std::string& path) const {
  switch (info.jpeg_color_space) {
    case JCS_GRAYSCALE:
      return ColorModel::kGrey;
    case JCS_RGB:
      return ColorModel::kRgb;
    case JCS_YCbCr:
      return ColorModel::kYcbcr;
    case JCS_CMYK:
      return ColorModel::kCmyk;
    case JCS_YCCK:
      return ColorModel::kYcck;
    default:
      throw Error(Code::kUnsupported, "{}: {} components of unknown colours; allowed: grey, RGB, YCbCr, CMYK, YCCK",
                  path, info.num_components);
  }
}

Picture JpegDecoder::State::picture(ColorModel model) const {
  Picture picture{model, static_cast<std::size_t>(info.num_components), {}, info.image_width, info.image_height};
  for (std::size_t i = 0; i < picture.planes; ++i) {
    const jpeg_component_info& component = info.comp_info[i];
    const auto edge = static_cast<std::size_t>(block_size(component));
    const double shrunk = static_cast<double>(edge) / kBlock;
    picture.plane[i] = {pixels[i].data(),
                        component.width_in_blocks * edge,
                        component.downsampled_width,
                        component.downsampled_height,
                        shrunk * component.h_samp_factor / info.max_h_samp_factor,
                        shrunk * component.v_samp_factor / info.max_v_samp_factor};
  }
  return picture;
}

Picture JpegDecoder::decode(std::span<const std::byte> file, const std::string& path, std::size_t least,
                            const PictureLimits& limits) {
  State& state = *state_;
  jpeg_abort_decompress(&state.info);  // This discards what remains of the previous file.
  const auto check = [&](bool done) {
    if (!done) throw Error(Code::kCorrupt, "{} at offset {}: {}", path, state.offset, state.message.data());
  };
  check(state.read_header(file));
  check_claim(path, file.size() - state.info.src->bytes_in_buffer, state.info.image_width, state.info.image_height,
              limits, file.size(), kMostJpegPixelsPerByte);
  const ColorModel model = state.model(path);
  state.choose_scale(least);
  check(state.start());
  state.make_room();
  // The picture is described before the rows are read, because at the end libjpeg frees its information about the
  // components.
  const Picture picture = state.picture(model);
  check(state.read_rows());
  return picture;
}

}  // namespace trainyard::image_folder
