/* The fixed binary structures of a bundle file: its header, and how a code segment describes itself. Plain C.
 *
 *   0            64             page            page                 page
 *   +------------+--------------+---------------+--------------------+---------
 *   | header     | metadata     | code segment  | rodata segment     | ...
 *   | 64 bytes   | bundle.fbs   | (one a target)| (mapped, read only)|
 *   +------------+--------------+---------------+--------------------+---------
 *
 * All integers are little-endian. Checksums are XXH64 with seed 0 (schema/checksum.h).
 */
#ifndef INGOT_SCHEMA_BUNDLE_HEADER_H_
#define INGOT_SCHEMA_BUNDLE_HEADER_H_

#include <stdint.h>

/* Eight bytes that text-mode copies and 7-bit channels cannot leave whole. */
#define INGOT_BUNDLE_MAGIC "\x89INGOT\r\n"
#define INGOT_FORMAT_MAJOR 1 /* an engine reads bundles of its own major version */
#define INGOT_FORMAT_MINOR 6 /* and of every minor one, if it knows each feature that the bundle requires */

/* The first 64 bytes of a bundle. */
typedef struct ingot_bundle_header {
  char magic[8];
  uint32_t header_bytes; /* 64 */
  uint16_t format_major;
  uint16_t format_minor;
  uint32_t kernel_abi_version; /* INGOT_KERNEL_ABI_VERSION of the code inside */
  uint32_t reserved;           /* zero */
  uint64_t metadata_offset;    /* from the start of the file; a multiple of 64 */
  uint64_t metadata_bytes;
  uint64_t metadata_checksum;
  uint64_t file_bytes;
  uint64_t header_checksum; /* of the 56 bytes before it */
} ingot_bundle_header;

/* A code segment starts with this header and, right behind it,
 *     kernels     ingot_kernel_record[kernel_count]
 *     parameters  ingot_parameter_record[parameter_count]
 *     features    char[features_bytes]: names separated by commas, no terminator
 * The image of machine code starts at image_offset, which keeps what the segment keeps: a page's start, or, where no
 * system maps files, a multiple of 64. It is all that becomes executable. What a kernel needs and reaches is told here and not in the metadata, so that one checksum covers the
 * code together with every fact that calling it relies on: a plan can be wrong without being dangerous.
 */
#define INGOT_CODE_MAGIC "INGOTISA"

typedef struct ingot_code_header {
  char magic[8];
  uint32_t kernel_abi_version;
  uint32_t kernel_count;
  uint32_t parameter_count;
  uint32_t features_bytes;
  uint64_t image_offset; /* from the start of the segment */
  uint64_t image_bytes;
  char isa[16];   /* "x86-64", "aarch64", "riscv64", "armv7e-m"; zero padded */
  uint64_t flags; /* ingot_code_flags */
} ingot_code_header;

enum ingot_code_flags {
  INGOT_CODE_TELLS_PLACES = 1 /* parameters tell what may replace them. Without it, all that start where they do may */
};

/* One kernel: where it starts, how often a step calls it, and which parameters it takes. */
typedef struct ingot_kernel_record {
  uint32_t code_offset; /* of the first instruction, from the start of the image */
  uint32_t task_count;  /* tasks 0 .. task_count-1 make one step */
  uint32_t first_parameter;
  uint32_t parameter_count;
  uint64_t scratch_bytes; /* per thread */
  uint32_t stack_bytes;   /* the most stack that one task uses; 0 is unknown */
  uint32_t reserved;      /* zero */
} ingot_kernel_record;

/* One parameter: a kernel touches bytes [0, reach) of the operand bound to it, and nothing else. What a kernel writes lies
 * apart from its other operands, but for one case: where a parameter that is only read starts, that which replaces it
 * may start too. */
typedef struct ingot_parameter_record {
  uint64_t reach_bytes;
  uint32_t access;      /* INGOT_ACCESS_READ | INGOT_ACCESS_WRITE */
  uint32_t replaced_by; /* 1 + the index of the parameter that replaces it; 0: none does */
} ingot_parameter_record;

enum ingot_access { INGOT_ACCESS_READ = 1, INGOT_ACCESS_WRITE = 2 };

/* What a segment holds; an engine skips kinds that it does not know and nothing refers to. */
enum ingot_segment_kind {
  INGOT_SEGMENT_CODE = 1,
  INGOT_SEGMENT_RODATA = 2,
  INGOT_SEGMENT_INITIAL_STATE = 3,
  INGOT_SEGMENT_DEBUG = 4,
  INGOT_SEGMENT_GOLDENS = 5
};

/* A stretch of the file behind the metadata, as it lies in the metadata: Segment of bundle.fbs. */
typedef struct ingot_segment_record {
  uint64_t offset;       /* from the start of the file */
  uint64_t stored_bytes; /* in the file */
  uint64_t bytes;        /* after inflating; equal to stored_bytes if not compressed */
  uint64_t checksum;     /* of the stored bytes */
  uint32_t kind;         /* ingot_segment_kind */
  uint32_t compression;  /* ingot_compression */
} ingot_segment_record;

/* How a segment is stored. Code and rodata never are compressed: they are mapped. */
enum ingot_compression { INGOT_COMPRESSION_NONE = 0, INGOT_COMPRESSION_ZLIB = 1 };

/* A state's first value: zero; the next bytes of the initial-state segment; none until the entry "init" or the host gives
 * it one, and no other entry runs before. */
enum ingot_start { INGOT_START_ZERO = 0, INGOT_START_SEGMENT = 1, INGOT_START_UNSET = 2 };

/* Limits, so that what a small file may ask of a reader is small. Names: schema/text.h. */
#define INGOT_RANK_MAX 64    /* dimensions of a tensor */
#define INGOT_PORTS_MAX 4096 /* inputs, and outputs, of an entry point */

#endif /* INGOT_SCHEMA_BUNDLE_HEADER_H_ */
