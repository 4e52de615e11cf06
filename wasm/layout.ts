// Where everything lies in a segment's shared memory: the single source of offsets, compiled by both
// tsc and asc.
//
//   0 .. HEADER_BYTES   segment header (fields H_*)
//   then, handed out upwards by one allocator in the order of need: tables, lanes, id map pages,
//   chunks of node records.
//
// Node record (stride a multiple of 64; the fields N_* are its first 64 bytes):
//
//   64 B      lock, used mask, hard mask, flags, id, code sum, norm, mean, chain, step, square
//   P B       8-bit code (P = dimension padded to 32); P/2 with HALF_CODES: a byte is two codes of 4
//             bits, that of a dimension of 32k .. 32k+15 and, above it, that of the one 16 further
//   P/4 x 16  edge codes             \
//   128 B     add, f32 x 32           | only with HAS_EDGE_CODES
//   128 B     scale, f32 x 32        /
//   128 B     neighbour slot, u32 x 32
//   128 B     edge distance, f32 x 32; not with HALF_CODES
//   4P B      rotated vector, f32 x P; only with KEEP_VECTORS
//   P B       8 further bits of the code; only without KEEP_VECTORS and HALF_CODES
//
// Sketches (only with HAS_GRAPH) lie apart from the records, for one stream through them: pages of
// SKETCH_BLOCKS blocks, a block per 32 slots:
//
//   64 B      lock
//   P/4 x 16  1-bit codes of the vectors about the mean, as edge codes
//   256 B     add, scale, f32 x 32 each
//
// Edge codes: the nibble of dims 4j..4j+3 of edge e is in byte j*16+(e&15), low nibble for e<16,
// high for e>=16. Without HAS_GRAPH a record is the first 64 bytes and the vector.

export const FORMAT_VERSION = 4;
/** Of this version on, memories of other metrics than dot are as they are now. */
export const FORMAT_VERSION_SQUARED = 3;
export const MAGIC = 0x564c5254;
export const HEADER_BYTES = 4096;
/** What snapshots compare, copy and check at a time. */
export const PAGE_BYTES = 4096;
export const STAGED_MORE = 64;
/** Edges of a node: the width of one fastscan. */
export const EDGES = 32;
/** Blocks of 32 sampled nodes that give a search its starts. */
export const ENTRY_BLOCKS = 32;
/** Least and most starts of a walk. */
export const STARTS = 8;
export const STARTS_MAX = 128;
/** Blocks of a page of sketches. */
export const SKETCH_BLOCKS = 32;
export const LANES_MAX = 768;
export const POOL_MAX = 4096;
export const RESULT_MAX = 8192;
/** Dimensions (padded) up to which a graph is built. */
export const GRAPH_DIMENSION_MAX = 4128;

export const METRIC_COSINE = 0;
export const METRIC_DOT = 1;
export const METRIC_L2 = 2;

/** Layout flags (H_LAYOUT). */
export const KEEP_VECTORS = 1;
export const HAS_GRAPH = 2;
export const HAS_EDGE_CODES = 4;
/** Codes of 4 bits and nothing finer: whoever searches has the vectors. */
export const HALF_CODES = 8;

/** Node flags (N_FLAGS). */
export const NODE_DELETED = 1;
/** Linked into the graph, or into a chain. */
export const NODE_LINKED = 2;
/** A zero vector under cosine or dot: kept beside the graph, in the zero chain. */
export const NODE_ZERO = 4;
/** Equal to another node: kept beside the graph, in that node's chain. */
export const NODE_DUPLICATE = 8;
export const NODE_FREE = 16;
/** Deleted and being cut out by the pass under way: nothing links to it any more. */
export const NODE_UNLINKING = 64;

/** Segment states (H_STATE): exact scan only, as long as not all nodes are linked; graph. */
export const STATE_SCAN = 0;
export const STATE_GRAPH = 1;

export const H_MAGIC = 0;
export const H_VERSION = 4;
export const H_METRIC = 8;
export const H_LAYOUT = 12;
export const H_DIMENSION = 16;
export const H_PADDED = 20;
export const H_STATE = 24;
/** Slots handed out. */
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
/** First byte not handed out, and the allocator's lock. */
export const H_BREAK = 76;
export const H_ALLOCATOR = 80;
/** u32 per page of sketches: its address. Bytes of a block of them, 0 without a graph. */
export const H_SKETCHES = 260;
export const H_SKETCH_BYTES = 264;
/** A byte per page, 0 before the first snapshot; the same while pages are being marked, else 0. */
export const H_MARKS = 268;
export const H_MARKING = 272;
/** Next slot to link while the first graph is being made, + 1; 0 before and after. */
export const H_LINKED = 276;
/** Bytes from a node's beginning to the end of its edges. */
export const H_EDGES_END = 280;
/**
 * As measured on the segment itself, 0 before: the width at which a walk finds nearly all of the ten
 * nearest, and how many vectors a scan by sketches judges for them, + 1. Vectors put and forgotten
 * since then. The width for the hundred nearest.
 */
export const H_WIDTH = 284;
export const H_JUDGED = 288;
export const H_CHANGED = 292;
export const H_WIDTH_MANY = 296;
/** Most bytes this segment may take. */
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
/** Nodes offered to the entry table. */
export const H_ENTRY_SEEN = 116;
/** Graph parameters: hard edges of a new node, beam of an insertion. */
export const H_HARD = 120;
export const H_BEAM = 124;
/** Heads of the chain of zero vectors and of free slots, slot + 1. */
export const H_ZEROS = 136;
export const H_FREE = 140;
/** Bytes from a node's beginning to the further bits of its code; 0 where there are none. */
export const H_FINE = 148;
/** Number of slots that begins a graph. */
export const H_GRAPH_FROM = 156;
/**
 * Bulk build: numbers of the next row, the end, and the rows done, all only growing; row n is place
 * n mod BULK_ROWS of the ring at H_BULK_ROWS (64 B: slot and id u32; then P floats each).
 */
export const H_BULK_NEXT = 200;
export const H_BULK_END = 204;
export const H_BULK_DONE = 208;
export const H_BULK_ROWS = 212;
/**
 * Power of two that the host applies to vectors of metrics l2 and dot (f64), so that squares stay
 * finite; 0 before there is one that is not zero.
 */
export const H_INPUT_SCALE = 216;
/**
 * Exact vectors of a layout without vectors, until the graph is made: room for twice H_GRAPH_FROM,
 * since every vector put meanwhile links two; STAGED_MORE for what is put before the first link.
 */
export const H_STAGED = 224;
export const H_EDGE_CODE_BYTES = 228;
/**
 * Maintenance: phase of the pass under way, next slot of it, nodes linked since the last repair.
 */
export const H_PHASE = 248;
/** From this phase on, a pass counts in-links; what it has counted is in no snapshot. */
export const PHASE_RESET = 4;
export const H_CURSOR = 252;
export const H_UNREPAIRED = 256;
export const H_ZERO_LOCK = 240;
export const H_LANE_LOCK = 244;
/** Lane addresses, u32 x LANES_MAX; the lowest bit is set while a thread owns the lane. */
export const H_LANE_TABLE = 1024;

export const N_LOCK = 0;
export const N_USED = 4;
export const N_HARD = 8;
export const N_FLAGS = 12;
export const N_ID = 16;
/** Sum of the bytes of the code, i32. */
export const N_CODE_SUM = 20;
/** Length of the stored vector, f32. */
export const N_NORM = 24;
/** Chain of equal vectors (or of zeros, or of free slots): next and previous, slot + 1. */
export const N_NEXT = 32;
export const N_PREVIOUS = 36;
/** Marks of the maintenance passes. */
export const N_DEGREE = 40;
/** What one unit of the code stands for, f32. */
export const N_STEP = 44;
/** Squared length of the vector that the code stands for, less the code's squared error, f32. */
export const N_SQUARE = 48;
export const N_CODE = 64;

/** Block of the entry table: a lock in the first word, then the same parts as a node. */
export const E_LOCK = 0;
export const E_PARTS = 64;

/** Block of sketches: a lock in the first word, then codes and terms as an edge's. */
export const S_LOCK = 0;
export const S_PARTS = 64;

export const L_QUERY = 0;
/** Rotated query, f32 x P; what is coded of it: less the mean, or (dot) as it is. */
export const L_ROTATED = 4;
export const L_CENTRED = 8;
/** Query code as i16: 32 B per 16 dims, the even ones and the odd ones. */
export const L_CODE = 12;
/** distance by codes = base + square of the node - step x step of the node x (dot - offset). */
export const L_BASE = 16;
export const L_STEP = 20;
export const L_OFFSET = 24;
export const L_TABLE = 28;
/** estimate = d + add - scale * (a + b * sum); a and b of the look-up table, f32. */
export const L_TABLE_BASE = 32;
export const L_TABLE_STEP = 36;
/** Length of what is coded of the query, f32. */
export const L_LENGTH = 40;
/** Sorted u64 pool: f32 bits | slot << 1 | expanded. */
export const L_POOL = 44;
export const L_POOL_COUNT = 48;
/** Sorted u64 results: f32 bits | slot. */
export const L_RESULT = 52;
export const L_RESULT_COUNT = 56;
export const L_RESULT_LIMIT = 60;
/** Answer: ids u32 and distances f32, RESULT_MAX each. */
export const L_IDS = 64;
export const L_DISTANCES = 68;
/** One bit per slot: seen by this search; the list of words to clear afterwards. */
export const L_SEEN = 72;
export const L_TOUCHED = 76;
export const L_TOUCHED_COUNT = 80;
/** One bit per element id: allowed; address, words in use (0 = no filter), words of room. */
export const L_ALLOW = 84;
export const L_ALLOW_WORDS = 92;
export const L_ALLOW_ROOM = 124;
/** 32 estimates of the last scan. */
export const L_ESTIMATES = 88;
/** Nodes expanded by the last search. */
export const L_VISITED = 104;
/** What stands for the owner in estimates from codes about the mean, f32. */
export const L_ORIGIN = 108;
/** Length of the vector at hand, f32. */
export const L_NORM = 112;
/** Whether the walk keeps every node (an insertion) or only live, allowed ones. */
export const L_KEEP_ALL = 116;
/** 1 when distances are taken on what is known best of a vector instead of its code. */
export const L_FINE = 120;
/** Scratch of a selection: keys of kept, then of rejected candidates. */
export const L_KEPT = 132;
export const L_REJECTED = 136;
/** Answers of the last search. */
export const L_ANSWERS = 140;
/** What a walk read ahead of its use; nobody reads it. */
export const L_TOUCH = 144;
/**
 * What the squared length of a vector counts in its distance from the lane's, f32: 1, and 0 when it is
 * the inner product that is asked for.
 */
export const L_WEIGHT = 148;
/** Keys of an insertion's greatest inner products, behind the results (dual-order-search.ts). */
export const L_INNER_COUNT = 152;
/** Keys at L_REJECTED. */
export const L_REJECTED_COUNT = 156;
export const LANE_HEADER = 192;
export const TOUCHED_MAX = 16384;
/** Rows of a bulk build that are handed out at a time, a power of two. */
export const BULK_ROWS = 512;

/** Id map: three levels of 10, 11 and 11 bits. */
export const IDS_TOP = 1024;
export const IDS_PAGE = 2048;

/**
 * Memory of the reader of floats (parse-floats.ts), not of a segment: bytes read, powers of five,
 * the bytes, the entries.
 */
export const FLOAT_USED = 0;
export const FLOAT_POWERS = 64;
export const FLOAT_POWER_MIN = -64;
export const FLOAT_POWER_MAX = 64;
export const FLOAT_INPUT = 4096;
export const FLOAT_INPUT_MAX = 16384;
export const FLOAT_ENTRIES = 20544;
export const FLOAT_ENTRY_BYTES = 16;
