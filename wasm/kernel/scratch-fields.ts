// Accessors of a scratch memory, given its address; layout.ts says what each field contains. All
// accessors are inlined: they compile to the loads and stores that they name.
import {
  L_ALLOW, L_ALLOW_ROOM, L_ALLOW_WORDS, L_ANSWERS, L_BASE, L_CENTRED, L_CODE, L_DISTANCES,
  L_ESTIMATES, L_FINE, L_IDS, L_INNER_COUNT, L_KEEP_ALL, L_CHOSEN, L_LENGTH, L_NORM, L_OFFSET,
  L_ORIGIN, L_POOL, L_POOL_COUNT, L_QUERY, L_REJECTED, L_REJECTED_COUNT, L_RESULT, L_RESULT_COUNT,
  L_RESULT_LIMIT, L_ROTATED, L_SEEN, L_STEP, L_TABLE, L_TABLE_BASE, L_TABLE_STEP, L_TOUCH,
  L_TOUCHED, L_TOUCHED_COUNT, L_VISITED, L_WEIGHT,
} from '../layout';

export namespace Scratch {
  // @ts-ignore: decorator
  @inline export function query(scratch: usize): usize {
    return <usize>load<u32>(scratch, L_QUERY);
  }

  // @ts-ignore: decorator
  @inline export function rotated(scratch: usize): usize {
    return <usize>load<u32>(scratch, L_ROTATED);
  }

  // @ts-ignore: decorator
  @inline export function centred(scratch: usize): usize {
    return <usize>load<u32>(scratch, L_CENTRED);
  }

  // @ts-ignore: decorator
  @inline export function code(scratch: usize): usize {
    return <usize>load<u32>(scratch, L_CODE);
  }

  // @ts-ignore: decorator
  @inline export function base(scratch: usize): f32 {
    return load<f32>(scratch, L_BASE);
  }

  // @ts-ignore: decorator
  @inline export function setBase(scratch: usize, value: f32): void {
    store<f32>(scratch, value, L_BASE);
  }

  // @ts-ignore: decorator
  @inline export function step(scratch: usize): f32 {
    return load<f32>(scratch, L_STEP);
  }

  // @ts-ignore: decorator
  @inline export function setStep(scratch: usize, value: f32): void {
    store<f32>(scratch, value, L_STEP);
  }

  // @ts-ignore: decorator
  @inline export function offset(scratch: usize): i32 {
    return load<i32>(scratch, L_OFFSET);
  }

  // @ts-ignore: decorator
  @inline export function setOffset(scratch: usize, value: i32): void {
    store<i32>(scratch, value, L_OFFSET);
  }

  // @ts-ignore: decorator
  @inline export function table(scratch: usize): usize {
    return <usize>load<u32>(scratch, L_TABLE);
  }

  // @ts-ignore: decorator
  @inline export function tableBase(scratch: usize): f32 {
    return load<f32>(scratch, L_TABLE_BASE);
  }

  // @ts-ignore: decorator
  @inline export function setTableBase(scratch: usize, value: f32): void {
    store<f32>(scratch, value, L_TABLE_BASE);
  }

  // @ts-ignore: decorator
  @inline export function tableStep(scratch: usize): f32 {
    return load<f32>(scratch, L_TABLE_STEP);
  }

  // @ts-ignore: decorator
  @inline export function setTableStep(scratch: usize, value: f32): void {
    store<f32>(scratch, value, L_TABLE_STEP);
  }

  // @ts-ignore: decorator
  @inline export function length(scratch: usize): f32 {
    return load<f32>(scratch, L_LENGTH);
  }

  // @ts-ignore: decorator
  @inline export function setLength(scratch: usize, value: f32): void {
    store<f32>(scratch, value, L_LENGTH);
  }

  // @ts-ignore: decorator
  @inline export function pool(scratch: usize): usize {
    return <usize>load<u32>(scratch, L_POOL);
  }

  // @ts-ignore: decorator
  @inline export function poolCount(scratch: usize): i32 {
    return load<i32>(scratch, L_POOL_COUNT);
  }

  // @ts-ignore: decorator
  @inline export function setPoolCount(scratch: usize, value: i32): void {
    store<i32>(scratch, value, L_POOL_COUNT);
  }

  // @ts-ignore: decorator
  @inline export function result(scratch: usize): usize {
    return <usize>load<u32>(scratch, L_RESULT);
  }

  // @ts-ignore: decorator
  @inline export function resultCount(scratch: usize): i32 {
    return load<i32>(scratch, L_RESULT_COUNT);
  }

  // @ts-ignore: decorator
  @inline export function setResultCount(scratch: usize, value: i32): void {
    store<i32>(scratch, value, L_RESULT_COUNT);
  }

  // @ts-ignore: decorator
  @inline export function resultLimit(scratch: usize): i32 {
    return load<i32>(scratch, L_RESULT_LIMIT);
  }

  // @ts-ignore: decorator
  @inline export function setResultLimit(scratch: usize, value: i32): void {
    store<i32>(scratch, value, L_RESULT_LIMIT);
  }

  // @ts-ignore: decorator
  @inline export function ids(scratch: usize): usize {
    return <usize>load<u32>(scratch, L_IDS);
  }

  // @ts-ignore: decorator
  @inline export function distances(scratch: usize): usize {
    return <usize>load<u32>(scratch, L_DISTANCES);
  }

  // @ts-ignore: decorator
  @inline export function seen(scratch: usize): usize {
    return <usize>load<u32>(scratch, L_SEEN);
  }

  // @ts-ignore: decorator
  @inline export function touched(scratch: usize): usize {
    return <usize>load<u32>(scratch, L_TOUCHED);
  }

  // @ts-ignore: decorator
  @inline export function touchedCount(scratch: usize): u32 {
    return load<u32>(scratch, L_TOUCHED_COUNT);
  }

  // @ts-ignore: decorator
  @inline export function setTouchedCount(scratch: usize, value: u32): void {
    store<u32>(scratch, value, L_TOUCHED_COUNT);
  }

  // @ts-ignore: decorator
  @inline export function allow(scratch: usize): usize {
    return <usize>load<u32>(scratch, L_ALLOW);
  }

  // @ts-ignore: decorator
  @inline export function setAllow(scratch: usize, value: u32): void {
    store<u32>(scratch, value, L_ALLOW);
  }

  // @ts-ignore: decorator
  @inline export function allowWords(scratch: usize): u32 {
    return load<u32>(scratch, L_ALLOW_WORDS);
  }

  // @ts-ignore: decorator
  @inline export function setAllowWords(scratch: usize, value: u32): void {
    store<u32>(scratch, value, L_ALLOW_WORDS);
  }

  // @ts-ignore: decorator
  @inline export function allowRoom(scratch: usize): u32 {
    return load<u32>(scratch, L_ALLOW_ROOM);
  }

  // @ts-ignore: decorator
  @inline export function setAllowRoom(scratch: usize, value: u32): void {
    store<u32>(scratch, value, L_ALLOW_ROOM);
  }

  // @ts-ignore: decorator
  @inline export function estimates(scratch: usize): usize {
    return <usize>load<u32>(scratch, L_ESTIMATES);
  }

  // @ts-ignore: decorator
  @inline export function visited(scratch: usize): i32 {
    return load<i32>(scratch, L_VISITED);
  }

  // @ts-ignore: decorator
  @inline export function setVisited(scratch: usize, value: i32): void {
    store<i32>(scratch, value, L_VISITED);
  }

  // @ts-ignore: decorator
  @inline export function origin(scratch: usize): f32 {
    return load<f32>(scratch, L_ORIGIN);
  }

  // @ts-ignore: decorator
  @inline export function setOrigin(scratch: usize, value: f32): void {
    store<f32>(scratch, value, L_ORIGIN);
  }

  // @ts-ignore: decorator
  @inline export function norm(scratch: usize): f32 {
    return load<f32>(scratch, L_NORM);
  }

  // @ts-ignore: decorator
  @inline export function setNorm(scratch: usize, value: f32): void {
    store<f32>(scratch, value, L_NORM);
  }

  // @ts-ignore: decorator
  @inline export function keepAll(scratch: usize): u32 {
    return load<u32>(scratch, L_KEEP_ALL);
  }

  // @ts-ignore: decorator
  @inline export function setKeepAll(scratch: usize, value: u32): void {
    store<u32>(scratch, value, L_KEEP_ALL);
  }

  // @ts-ignore: decorator
  @inline export function fine(scratch: usize): u32 {
    return load<u32>(scratch, L_FINE);
  }

  // @ts-ignore: decorator
  @inline export function setFine(scratch: usize, value: u32): void {
    store<u32>(scratch, value, L_FINE);
  }

  // @ts-ignore: decorator
  @inline export function chosen(scratch: usize): usize {
    return <usize>load<u32>(scratch, L_CHOSEN);
  }

  // @ts-ignore: decorator
  @inline export function rejected(scratch: usize): usize {
    return <usize>load<u32>(scratch, L_REJECTED);
  }

  // @ts-ignore: decorator
  @inline export function answers(scratch: usize): i32 {
    return load<i32>(scratch, L_ANSWERS);
  }

  // @ts-ignore: decorator
  @inline export function setAnswers(scratch: usize, value: i32): void {
    store<i32>(scratch, value, L_ANSWERS);
  }

  // @ts-ignore: decorator
  @inline export function setTouch(scratch: usize, value: i32): void {
    store<i32>(scratch, value, L_TOUCH);
  }

  // @ts-ignore: decorator
  @inline export function weight(scratch: usize): f32 {
    return load<f32>(scratch, L_WEIGHT);
  }

  // @ts-ignore: decorator
  @inline export function setWeight(scratch: usize, value: f32): void {
    store<f32>(scratch, value, L_WEIGHT);
  }

  // @ts-ignore: decorator
  @inline export function innerCount(scratch: usize): i32 {
    return load<i32>(scratch, L_INNER_COUNT);
  }

  // @ts-ignore: decorator
  @inline export function setInnerCount(scratch: usize, value: i32): void {
    store<i32>(scratch, value, L_INNER_COUNT);
  }

  // @ts-ignore: decorator
  @inline export function rejectedCount(scratch: usize): i32 {
    return load<i32>(scratch, L_REJECTED_COUNT);
  }

  // @ts-ignore: decorator
  @inline export function setRejectedCount(scratch: usize, value: i32): void {
    store<i32>(scratch, value, L_REJECTED_COUNT);
  }
}
