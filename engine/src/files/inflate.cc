#include "engine/src/inflate.h"

#include <zlib.h>

#include <cstring>
#include <new>

#include "engine/src/memory_cursor.h"
#include "schema/bundle_header.h"

namespace ingot::engine {
namespace {

constexpr uint64_t kChunkBytesMax = 1u << 30;  // zlib counts in 32 bits

// The workspace: a stream, then what zlib asks for, from a mark that only rises.
struct Workspace {
  z_stream stream;
  uint64_t used_bytes;
};

void* take(void* opaque, uInt count, uInt item_bytes) {
  auto* workspace = static_cast<Workspace*>(opaque);
  const uint64_t bytes = round_up(uint64_t{count} * item_bytes, kBlockAlignmentBytes);
  if (bytes > kInflateWorkspaceBytes - workspace->used_bytes) return Z_NULL;
  void* block = reinterpret_cast<uint8_t*>(workspace) + workspace->used_bytes;
  workspace->used_bytes += bytes;
  return block;
}

void give_back(void*, void*) {}

uInt chunk(uint64_t bytes) { return static_cast<uInt>(bytes < kChunkBytesMax ? bytes : kChunkBytesMax); }

}  // namespace

ingot_status check_readable(const ingot_segment_record&, const char*, ingot_error*) { return INGOT_OK; }

SegmentReader::SegmentReader(const ingot_segment_record& segment, const uint8_t* stored, void* workspace)
    : at_(stored), left_bytes_(segment.stored_bytes) {
  if (segment.compression == INGOT_COMPRESSION_NONE) return;
  auto* w = new (workspace) Workspace();
  w->used_bytes = round_up(sizeof(Workspace), kBlockAlignmentBytes);
  w->stream.zalloc = take;
  w->stream.zfree = give_back;
  w->stream.opaque = w;
  if (inflateInit(&w->stream) != Z_OK) left_bytes_ = 0;  // then nothing can be read
  stream_ = &w->stream;
}

SegmentReader::~SegmentReader() {
  if (stream_) inflateEnd(static_cast<z_stream*>(stream_));
}

bool SegmentReader::read(uint8_t* out, uint64_t byte_count) {
  if (!stream_) {
    if (byte_count > left_bytes_) return false;
    std::memcpy(out, at_, byte_count);
    at_ += byte_count;
    left_bytes_ -= byte_count;
    return true;
  }
  auto& stream = *static_cast<z_stream*>(stream_);
  while (byte_count > 0) {
    const uInt in = chunk(left_bytes_), room = chunk(byte_count);
    stream.next_in = const_cast<Bytef*>(at_);
    stream.avail_in = in;
    stream.next_out = out;
    stream.avail_out = room;
    const int result = inflate(&stream, Z_NO_FLUSH);
    const uInt read = in - stream.avail_in, written = room - stream.avail_out;
    if ((result != Z_OK && result != Z_STREAM_END) || read + written == 0) return false;
    at_ += read;
    left_bytes_ -= read;
    out += written;
    byte_count -= written;
    if (result == Z_STREAM_END && byte_count > 0) return false;
  }
  return true;
}

}  // namespace ingot::engine
