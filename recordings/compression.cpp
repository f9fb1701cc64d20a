// SPDX-License-Identifier: Apache-2.0
#include "recordings/compression.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>

#include "messages/error.h"
#include "recordings/limits.h"

namespace trainyard::recordings {

std::uint32_t crc32_of(std::string_view bytes, std::uint32_t crc) {
  return static_cast<std::uint32_t>(::crc32_z(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

struct Compressor::State {
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context{ZSTD_createCCtx(), ZSTD_freeCCtx};
  int level = 1;
  std::string out;
};

Compressor::Compressor(int level) : state_(std::make_unique<State>()) { state_->level = level; }
Compressor::~Compressor() = default;

std::string_view Compressor::compress(std::string_view bytes) {
  std::string& out = state_->out;
  if (out.size() < ZSTD_compressBound(bytes.size())) out.resize(ZSTD_compressBound(bytes.size()));
  const std::size_t size =
      ZSTD_compressCCtx(state_->context.get(), out.data(), out.size(), bytes.data(), bytes.size(), state_->level);
  if (ZSTD_isError(size) != 0) throw Error(Code::kInternal, "zstd cannot compress: {}", ZSTD_getErrorName(size));
  return std::string_view(out).substr(0, size);
}

namespace {

/// Decompresses in pieces, so that the memory grows with the actual result, even if `size` is wrong.
std::string decompress_zstd(std::string_view bytes, std::uint64_t size) {
  constexpr std::size_t kPiece = 1 << 20;
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  // The window is limited to 2^27 bytes, because a hostile file could ask for more. Chunks of Trainyard need less.
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, 27);
  std::string out;
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  for (;;) {
    const std::size_t old = out.size(), read = in.pos;
    out.resize(std::min<std::uint64_t>(size, old + kPiece));
    ZSTD_outBuffer piece{out.data() + old, out.size() - old, 0};
    const std::size_t left = ZSTD_decompressStream(context.get(), &piece, &in);
    if (ZSTD_isError(left) != 0) throw Error(Code::kCorrupt, "a chunk is no zstd: {}", ZSTD_getErrorName(left));
    out.resize(old + piece.pos);
    if (left == 0 && in.pos == in.size) return out;
    if (piece.pos == 0 && in.pos == read)
      throw Error(Code::kCorrupt, "a chunk does not have the {} bytes that it claims", size);
  }
}

}  // namespace

std::string decompress(std::string_view compression, std::string_view bytes, std::uint64_t size) {
  if (size > kMostChunkBytes) {
    throw Error(Code::kCorrupt, "a chunk claims {} bytes; at most {} are allowed", size, kMostChunkBytes);
  }
  std::string out;
  if (compression.empty()) {
    out = bytes;
  } else if (compression == "zstd") {
    out = decompress_zstd(bytes, size);
  } else {
    throw Error(Code::kUnsupported, "a chunk is compressed with '{}'; only zstd is supported",
                compression.substr(0, 20));
  }
  if (out.size() != size) throw Error(Code::kCorrupt, "a chunk has {} bytes and claims {}", out.size(), size);
  return out;
}

}  // namespace trainyard::recordings
