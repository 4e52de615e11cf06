// Inputs that must not break anything: the rows of test/corpus/hostile that are written as steps. Rows that
// are only described (slow senders, idle connections, damaged files) are programs in the neighboring files.
import { declareCorpus } from '../support/corpus/corpus.js';

declareCorpus('hostile', { base: 'hostile.json', together: true });
