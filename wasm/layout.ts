// Memory layout of a segment: the single source of all offsets, compiled by both tsc and asc.
//
//   0 .. HEADER_BYTES   segment header (fields H_*)
//   then, handed out upwards by one allocator in the order of need: tables, scratch memories (L_*),
//   id map pages, chunks of node records.
//
// Node record (stride a multiple of 64; the fields N_* are its first 64 bytes):
//
//   64 B      lock, used mask, hard mask, flags, id, code sum, norm, list, degree, step, square
//   P B       8-bit code (P = dimension padded to 32); P/2 with HALF_CODES: a byte is two codes of 4
//             bits, that of a dimension of 32k .. 32k+15 and, above it, that of the one 16 further
//   P/4 x 16  edge codes                     \
//   64 B      add, 32 short floats            | only with HAS_EDGE_CODES
//   64 B      scale, 32 short floats         /
//   128 B     neighbour slot, u32 x 32
//   64 B      edge distance, 32 short floats \  not with HALF_CODES
//   P B       8 further bits of the code     /
//
// Sketches (only with HAS_GRAPH) are separate from the records, so that a scan reads one stream. They are in
// pages of SKETCH_BLOCKS blocks, a block per 32 slots:
//
//   64 B      lock
//   P/4 x 16  1-bit codes of the vectors about the mean, as edge codes
//   128 B     add, scale, 32 short floats each
//
// Edge codes: the nibble of dimensions 4j..4j+3 of edge e is in byte j*16+(e&15), the low nibble for e<16,
// the high one for e>=16. Short floats have 16 bits (kernel/short-float.ts). Without HAS_GRAPH a record is
// the first 64 bytes and the rotated vector, f32 x P.

export const FORMAT_VERSION = 5;
export const MAGIC = 0x564c5254;
export const HEADER_BYTES = 4096;
/** Bytes of a page: snapshots compare, copy and verify memory in these units. */
export const PAGE_BYTES = 4096;
/** Edges of a node: the width of one fastscan. */
export const EDGES = 32;
/** Blocks of 32 sampled nodes from which a search selects its entry points. */
export const ENTRY_BLOCKS = 32;
/** Smallest and largest number of entry points of a search. */
export const STARTS = 8;
export const STARTS_MAX = 128;
/** Blocks in a page of sketches. */
export const SKETCH_BLOCKS = 32;
export const SCRATCHES_MAX = 768;
export const POOL_MAX = 4096;
export const RESULT_MAX = 8192;
/** Padded dimension up to which a graph is built. */
export const GRAPH_DIMENSION_MAX = 4128;

export const METRIC_COSINE = 0;
export const METRIC_DOT = 1;
export const METRIC_L2 = 2;

/** Layout flags (H_LAYOUT): without a graph, vectors are kept as they are; with one, as codes. */
export const KEEP_VECTORS = 1;
export const HAS_GRAPH = 2;
export const HAS_EDGE_CODES = 4;
/** Codes of 4 bits only: the caller of a search has the vectors. */
export const HALF_CODES = 8;

/** Node flags (N_FLAGS). */
export const NODE_DELETED = 1;
/** Linked into the graph, or into a list of duplicates. */
export const NODE_LINKED = 2;
/** A zero vector under cosine or dot: outside the graph, in the list of zero vectors. */
export const NODE_ZERO = 4;
/** Equal to another node: outside the graph, in that node's list of duplicates. */
export const NODE_DUPLICATE = 8;
export const NODE_FREE = 16;
/** Deleted and being removed by the current pass: no new edge leads to it. */
export const NODE_UNLINKING = 64;

/** Segment states (H_STATE): exact scan until all nodes are linked, then graph. */
export const STATE_SCAN = 0;
export const STATE_GRAPH = 1;

export const H_MAGIC = 0;
export const H_VERSION = 4;
export const H_METRIC = 8;
export const H_LAYOUT = 12;
export const H_DIMENSION = 16;
export const H_PADDED = 20;
export const H_STATE = 24;
/** Number of slots ever assigned. */
export const H_SLOTS = 28;
export const H_CAPACITY = 32;
export const H_LIVE = 36;
export const H_DELETED = 40;
export const H_STRIDE = 44;
export const H_CHUNK_SHIFT = 48;
export const H_EDGE_CODES = 52;
export const H_ADD = 56;
export const H_SCALE = 60;
export const H_NEIGHBOUR = 64;
export const H_EDGE_DISTANCE = 68;
export const H_VECTOR = 72;
/** First free byte, and the allocator's lock. */
export const H_BREAK = 76;
export const H_ALLOCATOR = 80;
/** u32 per page of sketches: its address. Then the bytes of a block of sketches; 0 without a graph. */
export const H_SKETCHES = 260;
export const H_SKETCH_BYTES = 264;
/** One byte per page, 0 before the first snapshot. Then the same address while pages are marked, else 0. */
export const H_MARKS = 268;
export const H_MARKING = 272;
/** Next slot to link while the first graph is built, + 1; 0 before and after. */
export const H_LINKED = 276;
/** Bytes from the start of a node to the end of its edges. */
export const H_EDGES_END = 280;
/**
 * Calibration of this segment, 0 before it.
 * H_WIDTH: width at which a search finds nearly all of the ten nearest.
 * H_SCORED: number of vectors that a scan by sketches scores for them, + 1.
 * H_CHANGED: number of vectors put and removed since.
 * H_WIDTH_MANY: width for the hundred nearest.
 */
export const H_WIDTH = 284;
export const H_SCORED = 288;
export const H_CHANGED = 292;
export const H_WIDTH_MANY = 296;
/** Largest size of this segment in bytes. */
export const H_BYTES_MAX = 84;
/** u32 per chunk: its address. */
export const H_CHUNKS = 88;
/** Top page of the id map. */
export const H_IDS = 92;
/** i32 per dimension and round: 0 or the sign bit. */
export const H_SIGNS = 96;
/** Rotated mean, f32 x P. */
export const H_MEAN = 100;
/** Entry table: ENTRY_BLOCKS blocks. */
export const H_ENTRY = 108;
export const H_ENTRY_BYTES = 112;
/** Number of nodes offered to the entry table. */
export const H_ENTRY_SEEN = 116;
/** Graph parameters: hard edges of a new node, beam of an insertion. */
export const H_HARD = 120;
export const H_BEAM = 124;
/** Heads of the lists of zero vectors and of free slots, slot + 1. */
export const H_ZEROS = 136;
export const H_FREE = 140;
/** Bytes from the start of a node to the further bits of its code; 0 if there are none. */
export const H_FINE = 148;
/** Number of vectors from which a graph is built. */
export const H_GRAPH_FROM = 156;
/**
 * Bulk build: numbers of the next row and of the end, and number of linked rows; all only grow. Row n is at
 * position n mod BULK_ROWS of the ring at H_BULK_ROWS (64 B: slot and id u32; then P floats each).
 */
export const H_BULK_NEXT = 200;
export const H_BULK_END = 204;
export const H_BULK_DONE = 208;
export const H_BULK_ROWS = 212;
/**
 * Power of two by which the host multiplies vectors under l2 and dot (f64), so that squares stay finite; 0
 * before the first nonzero vector.
 */
export const H_INPUT_SCALE = 216;
/**
 * u32 per chunk of nodes: address of the exact vectors of its slots; 0 if the chunk is younger than the
 * graph. Layouts without vectors need them until the graph is complete.
 */
export const H_STAGED = 224;
export const H_EDGE_CODE_BYTES = 228;
/** Maintenance: phase of the current pass, its next slot, number of nodes linked since the last repair. */
export const H_PHASE = 248;
/** In this phase a pass frees the nodes being unlinked. No edge of another node and no entry leads to them. */
export const PHASE_SWEEP = 3;
/** From this phase on, a pass counts in-links. Snapshots do not contain the counts. */
export const PHASE_RESET = 4;
export const H_CURSOR = 252;
export const H_UNREPAIRED = 256;
export const H_ZERO_LOCK = 240;
export const H_SCRATCH_LOCK = 244;
/** Addresses of scratch memories, u32 x SCRATCHES_MAX; the lowest bit is set while a thread owns one. */
export const H_SCRATCH_TABLE = 1024;

export const N_LOCK = 0;
export const N_USED = 4;
export const N_HARD = 8;
export const N_FLAGS = 12;
export const N_ID = 16;
/** Sum of the bytes of the code, i32. */
export const N_CODE_SUM = 20;
/** Length of the stored vector, f32. */
export const N_NORM = 24;
/** List of equal vectors (or of zero vectors, or of free slots): next and previous, slot + 1. */
export const N_NEXT = 32;
export const N_PREVIOUS = 36;
/** Number of in-links that the maintenance pass counts. */
export const N_DEGREE = 40;
/** Value of one unit of the code, f32. */
export const N_STEP = 44;
/** Squared length of the vector that the code represents, minus the code's squared error, f32. */
export const N_SQUARE = 48;
export const N_CODE = 64;

/** Block of the entry table: a lock in the first word, then the same parts as a node. */
export const ENTRY_LOCK = 0;
export const ENTRY_PARTS = 64;
/** Bytes from the terms to the slots, u32 x 32. */
export const ENTRY_SLOTS = 128;

/** Block of sketches: a lock in the first word, then codes and terms like those of an edge. */
export const SKETCH_LOCK = 0;
export const SKETCH_PARTS = 64;

export const L_QUERY = 0;
/** Rotated query, f32 x P; and the part of it that is encoded: minus the mean, or unchanged under dot. */
export const L_ROTATED = 4;
export const L_CENTRED = 8;
/** Query code as i16: 32 B per 16 dimensions, the even ones, then the odd ones. */
export const L_CODE = 12;
/** distance by codes = base + square of the node - step x step of the node x (dot - offset). */
export const L_BASE = 16;
export const L_STEP = 20;
export const L_OFFSET = 24;
export const L_TABLE = 28;
/** estimate = d + add - scale * (a + b * sum); a and b of the lookup table, f32. */
export const L_TABLE_BASE = 32;
export const L_TABLE_STEP = 36;
/** Length of the encoded part of the query, f32. */
export const L_LENGTH = 40;
/** Sorted u64 pool of candidates: f32 bits | slot << 1 | expanded. */
export const L_POOL = 44;
export const L_POOL_COUNT = 48;
/** Sorted u64 results: f32 bits | slot. */
export const L_RESULT = 52;
export const L_RESULT_COUNT = 56;
export const L_RESULT_LIMIT = 60;
/** Final result: ids u32 and distances f32, RESULT_MAX each. */
export const L_IDS = 64;
export const L_DISTANCES = 68;
/** Visited set: one bit per slot. Then the list of its words to clear afterwards. */
export const L_SEEN = 72;
export const L_TOUCHED = 76;
export const L_TOUCHED_COUNT = 80;
/** Filter: one bit per element id. Its address, words in use (0 = no filter), words of capacity. */
export const L_ALLOW = 84;
export const L_ALLOW_WORDS = 92;
export const L_ALLOW_ROOM = 124;
/** The 32 estimates of the last fastscan. */
export const L_ESTIMATES = 88;
/** Number of nodes that the last search expanded. */
export const L_VISITED = 104;
/** Replaces the owner's distance in estimates from codes about the mean, f32. */
export const L_ORIGIN = 108;
/** Length of the present vector, f32. */
export const L_NORM = 112;
/** Whether the search keeps every node (an insertion) or only live, allowed ones. */
export const L_KEEP_ALL = 116;
/** 1 when distances are refined instead of taken from codes. */
export const L_FINE = 120;
/** Scratch memory of a neighbor selection: keys of chosen, then of rejected candidates. */
export const L_CHOSEN = 132;
export const L_REJECTED = 136;
/** Number of final results of the last search. */
export const L_ANSWERS = 140;
/** Target of prefetching loads; never read. */
export const L_TOUCH = 144;
/** Weight of a vector's squared length in distances from the query, f32: 1, or 0 for inner products. */
export const L_WEIGHT = 148;
/**
 * Number of keys with the greatest inner products in an insertion, after the results (dual-order-search.ts).
 */
export const L_INNER_COUNT = 152;
/** Number of keys at L_REJECTED. */
export const L_REJECTED_COUNT = 156;
export const SCRATCH_HEADER = 192;
export const TOUCHED_MAX = 16384;
/** Rows of a bulk build that are published together, a power of two. */
export const BULK_ROWS = 512;

/** Id map: three levels of 10, 11 and 11 bits. */
export const IDS_TOP = 1024;
export const IDS_PAGE = 2048;

/**
 * Memory of the number parser (parse-floats.ts), which is not in a segment: number of bytes read, powers of
 * five, input bytes, entries.
 */
export const FLOAT_USED = 0;
export const FLOAT_POWERS = 64;
export const FLOAT_POWER_MIN = -64;
export const FLOAT_POWER_MAX = 64;
export const FLOAT_INPUT = 4096;
export const FLOAT_INPUT_MAX = 16384;
export const FLOAT_ENTRIES = 20544;
export const FLOAT_ENTRY_BYTES = 16;
