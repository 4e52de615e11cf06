// What the host may call. Every function works on the one segment whose memory this instance was
// given.
export { format, prepare, put, remove, takeSlot, reserveId, setId } from './segment';
export { bulkStep, openBulk } from './segment';
export { closeMarks, openMarks } from './mark';
export { openLane, closeLane, freeLanes, openAllow } from './lane';
export { beginQuery, searchGraph, searchFlat, searchList, searchExact } from './query';
export { listSlots } from './answer';
export { slotOf, nodeAt, idWord } from './memory';
export { maintain } from './maintain';
export { pageSum } from './checksum';
export { rotate } from './rotate';
export { dotFloats, squareFloats, vectorDistance } from './distance';
export { codeDistance, codeNoise, nodeDistance } from './code';
export { fineDistance, fineNodes } from './fine';
export { buildTable, scanEdges } from './scan';
export { parseFloats } from './parse-floats';
