// The twin transport on node:http answers the same: framing here, everything in the long run.
import { declareCorpus } from '../support/corpus/corpus.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const config = { 'server.transport': 'node' };

if (long) declareCorpus('http', { config, merge: true });
declareCorpus('hostile', { config, base: 'hostile.json', files: long ? /./ : /framing/ });
if (long) {
  declareCorpus('language', { config, merge: true });
  declareCorpus('sessions', { config });
}
