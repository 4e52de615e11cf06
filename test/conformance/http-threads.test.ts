// A server with three HTTP threads answers the same: framing here, everything in the long run.
import { declareCorpus } from '../support/corpus/corpus.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const config = { 'server.http_threads': 3 };

if (long) declareCorpus('http', { config, merge: true });
declareCorpus('hostile', { config, base: 'hostile.json', files: long ? /./ : /framing/ });
if (long) {
  declareCorpus('language', { config, merge: true, together: true });
  declareCorpus('sessions', { config, merge: true, together: true });
}
