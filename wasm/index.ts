// What the host may call. Every function works on the one segment whose memory this instance was
// given.
export { format, prepare, put, remove, takeSlot, reserveId, setId } from './segment';
export { bulkStep, openBulk } from './segment';
export { openLane, closeLane, freeLanes, openAllow } from './lane';
export { beginQuery, clearQuery, addToQuery, codeQuery } from './query';
export { searchGraph, searchAmong, searchFlat, searchScan, searchList, searchExact } from './query';
export { answerNoise, listSlots } from './answer';
export { closeMarks, idWord, nodeAt, openMarks, slotOf } from './memory';
export { maintain } from './maintain';
export { pageSum } from './kernel/checksum';
export { rotate } from './kernel/rotate';
export { dotFloats, squareFloats, vectorDistance } from './kernel/distance';
export { codeDistance, codeNoise, nodeDistance } from './code';
export { fineDistance, fineNodes } from './fine';
export { buildTable, scanEdges } from './kernel/scan';
export { parseFloats } from './kernel/parse-floats';
