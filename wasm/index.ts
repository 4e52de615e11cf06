// The functions that the host may call. Every function works on the one segment in the memory of this
// instance.
export { format, prepare, put, remove, takeSlot, reserveId, setId } from './segment';
export { bulkStep, openBulk } from './segment';
export { openScratch, closeScratch, freeScratch, openAllow } from './scratch';
export { beginQuery, clearQuery, addToQuery, codeQuery } from './query';
export { searchGraph, searchAllowed, searchFlat, searchScan } from './query';
export { searchExact, searchList } from './query';
export { answerNoise, listSlots } from './top-k';
export { closeMarks, idWord, nodeAt, openMarks, slotOf } from './memory';
export { maintain } from './consolidate';
export { pageSum } from './kernel/checksum';
export { rotate } from './kernel/hadamard';
export { dotFloats, squareFloats, vectorDistance } from './kernel/distance';
export { codeDistance, codeNoise, nodeDistance } from './scalar-quantizer';
export { fineDistance, fineNodes } from './refine';
export { buildTable, scanEdges } from './kernel/fastscan';
export { parseFloats } from './kernel/parse-floats';
