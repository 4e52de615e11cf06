// Accessors of the segment header, which is at address 0; layout.ts says what each field contains. All
// accessors are inlined: they compile to the loads and stores that they name. Atomic operations use the
// offsets directly.
import {
  H_ADD, H_BEAM, H_BREAK, H_BULK_ROWS, H_BYTES_MAX, H_CAPACITY, H_CHANGED, H_CHUNKS, H_CHUNK_SHIFT,
  H_CURSOR, H_DELETED, H_DIMENSION, H_EDGES_END, H_EDGE_CODES, H_EDGE_CODE_BYTES, H_EDGE_DISTANCE,
  H_ENTRY, H_ENTRY_BYTES, H_FINE, H_FREE, H_GRAPH_FROM, H_HARD, H_IDS, H_LAYOUT, H_LINKED, H_LIVE,
  H_MAGIC, H_MARKING, H_MARKS, H_MEAN, H_METRIC, H_NEIGHBOUR, H_PADDED, H_PHASE, H_SCALE, H_SIGNS,
  H_SKETCHES, H_SKETCH_BYTES, H_SLOTS, H_STAGED, H_STATE, H_STRIDE, H_UNREPAIRED, H_VECTOR,
  H_VERSION, H_ZEROS,
} from '../layout';

export namespace Header {
  // @ts-ignore: decorator
  @inline export function setMagic(value: u32): void {
    store<u32>(0, value, H_MAGIC);
  }

  // @ts-ignore: decorator
  @inline export function setVersion(value: u32): void {
    store<u32>(0, value, H_VERSION);
  }

  // @ts-ignore: decorator
  @inline export function metric(): u32 {
    return load<u32>(0, H_METRIC);
  }

  // @ts-ignore: decorator
  @inline export function setMetric(value: u32): void {
    store<u32>(0, value, H_METRIC);
  }

  // @ts-ignore: decorator
  @inline export function layout(): u32 {
    return load<u32>(0, H_LAYOUT);
  }

  // @ts-ignore: decorator
  @inline export function setLayout(value: u32): void {
    store<u32>(0, value, H_LAYOUT);
  }

  // @ts-ignore: decorator
  @inline export function dimension(): u32 {
    return load<u32>(0, H_DIMENSION);
  }

  // @ts-ignore: decorator
  @inline export function setDimension(value: u32): void {
    store<u32>(0, value, H_DIMENSION);
  }

  // @ts-ignore: decorator
  @inline export function padded(): usize {
    return <usize>load<u32>(0, H_PADDED);
  }

  // @ts-ignore: decorator
  @inline export function setPadded(value: u32): void {
    store<u32>(0, value, H_PADDED);
  }

  // @ts-ignore: decorator
  @inline export function state(): u32 {
    return load<u32>(0, H_STATE);
  }

  // @ts-ignore: decorator
  @inline export function slots(): u32 {
    return load<u32>(0, H_SLOTS);
  }

  // @ts-ignore: decorator
  @inline export function capacity(): u32 {
    return load<u32>(0, H_CAPACITY);
  }

  // @ts-ignore: decorator
  @inline export function setCapacity(value: u32): void {
    store<u32>(0, value, H_CAPACITY);
  }

  // @ts-ignore: decorator
  @inline export function live(): u32 {
    return load<u32>(0, H_LIVE);
  }

  // @ts-ignore: decorator
  @inline export function deleted(): u32 {
    return load<u32>(0, H_DELETED);
  }

  // @ts-ignore: decorator
  @inline export function stride(): usize {
    return <usize>load<u32>(0, H_STRIDE);
  }

  // @ts-ignore: decorator
  @inline export function setStride(value: u32): void {
    store<u32>(0, value, H_STRIDE);
  }

  // @ts-ignore: decorator
  @inline export function chunkShift(): u32 {
    return load<u32>(0, H_CHUNK_SHIFT);
  }

  // @ts-ignore: decorator
  @inline export function setChunkShift(value: u32): void {
    store<u32>(0, value, H_CHUNK_SHIFT);
  }

  // @ts-ignore: decorator
  @inline export function edgeCodes(): usize {
    return <usize>load<u32>(0, H_EDGE_CODES);
  }

  // @ts-ignore: decorator
  @inline export function setEdgeCodes(value: u32): void {
    store<u32>(0, value, H_EDGE_CODES);
  }

  // @ts-ignore: decorator
  @inline export function add(): usize {
    return <usize>load<u32>(0, H_ADD);
  }

  // @ts-ignore: decorator
  @inline export function setAdd(value: u32): void {
    store<u32>(0, value, H_ADD);
  }

  // @ts-ignore: decorator
  @inline export function setScale(value: u32): void {
    store<u32>(0, value, H_SCALE);
  }

  // @ts-ignore: decorator
  @inline export function neighbour(): usize {
    return <usize>load<u32>(0, H_NEIGHBOUR);
  }

  // @ts-ignore: decorator
  @inline export function setNeighbour(value: u32): void {
    store<u32>(0, value, H_NEIGHBOUR);
  }

  // @ts-ignore: decorator
  @inline export function edgeDistance(): usize {
    return <usize>load<u32>(0, H_EDGE_DISTANCE);
  }

  // @ts-ignore: decorator
  @inline export function setEdgeDistance(value: u32): void {
    store<u32>(0, value, H_EDGE_DISTANCE);
  }

  // @ts-ignore: decorator
  @inline export function vector(): usize {
    return <usize>load<u32>(0, H_VECTOR);
  }

  // @ts-ignore: decorator
  @inline export function setVector(value: u32): void {
    store<u32>(0, value, H_VECTOR);
  }

  // @ts-ignore: decorator
  @inline export function freeByte(): u32 {
    return load<u32>(0, H_BREAK);
  }

  // @ts-ignore: decorator
  @inline export function setFreeByte(value: u32): void {
    store<u32>(0, value, H_BREAK);
  }

  // @ts-ignore: decorator
  @inline export function sketches(): usize {
    return <usize>load<u32>(0, H_SKETCHES);
  }

  // @ts-ignore: decorator
  @inline export function setSketches(value: u32): void {
    store<u32>(0, value, H_SKETCHES);
  }

  // @ts-ignore: decorator
  @inline export function sketchBytes(): usize {
    return <usize>load<u32>(0, H_SKETCH_BYTES);
  }

  // @ts-ignore: decorator
  @inline export function setSketchBytes(value: u32): void {
    store<u32>(0, value, H_SKETCH_BYTES);
  }

  // @ts-ignore: decorator
  @inline export function marks(): u32 {
    return load<u32>(0, H_MARKS);
  }

  // @ts-ignore: decorator
  @inline export function setMarks(value: u32): void {
    store<u32>(0, value, H_MARKS);
  }

  // @ts-ignore: decorator
  @inline export function marking(): usize {
    return <usize>load<u32>(0, H_MARKING);
  }

  // @ts-ignore: decorator
  @inline export function linked(): u32 {
    return load<u32>(0, H_LINKED);
  }

  // @ts-ignore: decorator
  @inline export function setLinked(value: u32): void {
    store<u32>(0, value, H_LINKED);
  }

  // @ts-ignore: decorator
  @inline export function edgesEnd(): usize {
    return <usize>load<u32>(0, H_EDGES_END);
  }

  // @ts-ignore: decorator
  @inline export function setEdgesEnd(value: u32): void {
    store<u32>(0, value, H_EDGES_END);
  }

  // @ts-ignore: decorator
  @inline export function changed(): u32 {
    return load<u32>(0, H_CHANGED);
  }

  // @ts-ignore: decorator
  @inline export function setChanged(value: u32): void {
    store<u32>(0, value, H_CHANGED);
  }

  // @ts-ignore: decorator
  @inline export function bytesMax(): u32 {
    return load<u32>(0, H_BYTES_MAX);
  }

  // @ts-ignore: decorator
  @inline export function setBytesMax(value: u32): void {
    store<u32>(0, value, H_BYTES_MAX);
  }

  // @ts-ignore: decorator
  @inline export function chunks(): usize {
    return <usize>load<u32>(0, H_CHUNKS);
  }

  // @ts-ignore: decorator
  @inline export function setChunks(value: u32): void {
    store<u32>(0, value, H_CHUNKS);
  }

  // @ts-ignore: decorator
  @inline export function ids(): usize {
    return <usize>load<u32>(0, H_IDS);
  }

  // @ts-ignore: decorator
  @inline export function setIds(value: u32): void {
    store<u32>(0, value, H_IDS);
  }

  // @ts-ignore: decorator
  @inline export function signs(): usize {
    return <usize>load<u32>(0, H_SIGNS);
  }

  // @ts-ignore: decorator
  @inline export function setSigns(value: u32): void {
    store<u32>(0, value, H_SIGNS);
  }

  // @ts-ignore: decorator
  @inline export function mean(): usize {
    return <usize>load<u32>(0, H_MEAN);
  }

  // @ts-ignore: decorator
  @inline export function setMean(value: u32): void {
    store<u32>(0, value, H_MEAN);
  }

  // @ts-ignore: decorator
  @inline export function entry(): usize {
    return <usize>load<u32>(0, H_ENTRY);
  }

  // @ts-ignore: decorator
  @inline export function setEntry(value: u32): void {
    store<u32>(0, value, H_ENTRY);
  }

  // @ts-ignore: decorator
  @inline export function entryBytes(): usize {
    return <usize>load<u32>(0, H_ENTRY_BYTES);
  }

  // @ts-ignore: decorator
  @inline export function setEntryBytes(value: u32): void {
    store<u32>(0, value, H_ENTRY_BYTES);
  }

  // @ts-ignore: decorator
  @inline export function hard(): i32 {
    return load<i32>(0, H_HARD);
  }

  // @ts-ignore: decorator
  @inline export function setHard(value: u32): void {
    store<u32>(0, value, H_HARD);
  }

  // @ts-ignore: decorator
  @inline export function beam(): i32 {
    return load<i32>(0, H_BEAM);
  }

  // @ts-ignore: decorator
  @inline export function setBeam(value: u32): void {
    store<u32>(0, value, H_BEAM);
  }

  // @ts-ignore: decorator
  @inline export function zeros(): u32 {
    return load<u32>(0, H_ZEROS);
  }

  // @ts-ignore: decorator
  @inline export function free(): u32 {
    return load<u32>(0, H_FREE);
  }

  // @ts-ignore: decorator
  @inline export function setFree(value: u32): void {
    store<u32>(0, value, H_FREE);
  }

  // @ts-ignore: decorator
  @inline export function fine(): usize {
    return <usize>load<u32>(0, H_FINE);
  }

  // @ts-ignore: decorator
  @inline export function setFine(value: u32): void {
    store<u32>(0, value, H_FINE);
  }

  // @ts-ignore: decorator
  @inline export function graphFrom(): u32 {
    return load<u32>(0, H_GRAPH_FROM);
  }

  // @ts-ignore: decorator
  @inline export function setGraphFrom(value: u32): void {
    store<u32>(0, value, H_GRAPH_FROM);
  }

  // @ts-ignore: decorator
  @inline export function bulkRows(): usize {
    return <usize>load<u32>(0, H_BULK_ROWS);
  }

  // @ts-ignore: decorator
  @inline export function setBulkRows(value: u32): void {
    store<u32>(0, value, H_BULK_ROWS);
  }

  // @ts-ignore: decorator
  @inline export function staged(): usize {
    return <usize>load<u32>(0, H_STAGED);
  }

  // @ts-ignore: decorator
  @inline export function setStaged(value: u32): void {
    store<u32>(0, value, H_STAGED);
  }

  // @ts-ignore: decorator
  @inline export function edgeCodeBytes(): usize {
    return <usize>load<u32>(0, H_EDGE_CODE_BYTES);
  }

  // @ts-ignore: decorator
  @inline export function setEdgeCodeBytes(value: u32): void {
    store<u32>(0, value, H_EDGE_CODE_BYTES);
  }

  // @ts-ignore: decorator
  @inline export function phase(): u32 {
    return load<u32>(0, H_PHASE);
  }

  // @ts-ignore: decorator
  @inline export function setPhase(value: u32): void {
    store<u32>(0, value, H_PHASE);
  }

  // @ts-ignore: decorator
  @inline export function cursor(): u32 {
    return load<u32>(0, H_CURSOR);
  }

  // @ts-ignore: decorator
  @inline export function setCursor(value: u32): void {
    store<u32>(0, value, H_CURSOR);
  }

  // @ts-ignore: decorator
  @inline export function unrepaired(): u32 {
    return load<u32>(0, H_UNREPAIRED);
  }

  // @ts-ignore: decorator
  @inline export function setUnrepaired(value: u32): void {
    store<u32>(0, value, H_UNREPAIRED);
  }
}
