// Accessors of a node record, given its address; layout.ts draws the record. They are all inlined, so they
// compile to the loads and stores that they name.
import {
  N_CODE_SUM, N_DEGREE, N_FLAGS, N_HARD, N_ID, N_NEXT, N_NORM, N_PREVIOUS, N_SQUARE, N_STEP,
  N_USED,
} from '../layout';

export namespace Node {
  /** Mask of the edges in use. */
  // @ts-ignore: decorator
  @inline
  export function used(node: usize): u32 {
    return load<u32>(node, N_USED);
  }

  /** Publishes the mask: other threads then see the edges that were written before. */
  // @ts-ignore: decorator
  @inline
  export function publishUsed(node: usize, mask: u32): void {
    atomic.store<u32>(node, mask, N_USED);
  }

  /** Mask of the hard edges, which the heuristic has chosen. */
  // @ts-ignore: decorator
  @inline
  export function hard(node: usize): u32 {
    return load<u32>(node, N_HARD);
  }

  // @ts-ignore: decorator
  @inline
  export function setHard(node: usize, value: u32): void {
    store<u32>(node, value, N_HARD);
  }

  /** Flags NODE_*. */
  // @ts-ignore: decorator
  @inline
  export function flags(node: usize): u32 {
    return load<u32>(node, N_FLAGS);
  }

  // @ts-ignore: decorator
  @inline
  export function setFlags(node: usize, value: u32): void {
    store<u32>(node, value, N_FLAGS);
  }

  /** Replaces the flags atomically, after the record was written. */
  // @ts-ignore: decorator
  @inline
  export function publishFlags(node: usize, flags: u32): void {
    atomic.store<u32>(node + N_FLAGS, flags);
  }

  /** Adds flags atomically; returns the former flags. */
  // @ts-ignore: decorator
  @inline
  export function addFlags(node: usize, flags: u32): u32 {
    return atomic.or<u32>(node + N_FLAGS, flags);
  }

  /** Element id. */
  // @ts-ignore: decorator
  @inline
  export function id(node: usize): u32 {
    return load<u32>(node, N_ID);
  }

  // @ts-ignore: decorator
  @inline
  export function setId(node: usize, value: u32): void {
    store<u32>(node, value, N_ID);
  }

  /** Sum of the bytes of the code. */
  // @ts-ignore: decorator
  @inline
  export function codeSum(node: usize): i32 {
    return load<i32>(node, N_CODE_SUM);
  }

  // @ts-ignore: decorator
  @inline
  export function setCodeSum(node: usize, value: i32): void {
    store<i32>(node, value, N_CODE_SUM);
  }

  /** Length of the stored vector. */
  // @ts-ignore: decorator
  @inline
  export function norm(node: usize): f32 {
    return load<f32>(node, N_NORM);
  }

  // @ts-ignore: decorator
  @inline
  export function setNorm(node: usize, value: f32): void {
    store<f32>(node, value, N_NORM);
  }

  /** Next node in the list of equal, zero or free nodes, slot + 1; 0 for none. */
  // @ts-ignore: decorator
  @inline
  export function next(node: usize): u32 {
    return load<u32>(node, N_NEXT);
  }

  // @ts-ignore: decorator
  @inline
  export function setNext(node: usize, value: u32): void {
    store<u32>(node, value, N_NEXT);
  }

  /** Reads `next` while other threads may change it. */
  // @ts-ignore: decorator
  @inline
  export function atomicNext(node: usize): u32 {
    return atomic.load<u32>(node + N_NEXT);
  }

  /** Replaces `next` while other threads may read it. */
  // @ts-ignore: decorator
  @inline
  export function publishNext(node: usize, next: u32): void {
    atomic.store<u32>(node + N_NEXT, next);
  }

  /** Previous node in that list, slot + 1; 0 for none. */
  // @ts-ignore: decorator
  @inline
  export function previous(node: usize): u32 {
    return load<u32>(node, N_PREVIOUS);
  }

  // @ts-ignore: decorator
  @inline
  export function setPrevious(node: usize, value: u32): void {
    store<u32>(node, value, N_PREVIOUS);
  }

  /** Number of in-links that a maintenance pass has counted. */
  // @ts-ignore: decorator
  @inline
  export function degree(node: usize): u32 {
    return load<u32>(node, N_DEGREE);
  }

  // @ts-ignore: decorator
  @inline
  export function setDegree(node: usize, value: u32): void {
    store<u32>(node, value, N_DEGREE);
  }

  /** Value of one unit of the code. */
  // @ts-ignore: decorator
  @inline
  export function step(node: usize): f32 {
    return load<f32>(node, N_STEP);
  }

  // @ts-ignore: decorator
  @inline
  export function setStep(node: usize, value: f32): void {
    store<f32>(node, value, N_STEP);
  }

  /** Squared length of the vector that the code represents, minus the code's squared error. */
  // @ts-ignore: decorator
  @inline
  export function square(node: usize): f32 {
    return load<f32>(node, N_SQUARE);
  }

  // @ts-ignore: decorator
  @inline
  export function setSquare(node: usize, value: f32): void {
    store<f32>(node, value, N_SQUARE);
  }
}
