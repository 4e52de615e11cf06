// Routes, framing, headers, errors and keys through a real server: the cases of test/corpus/http.
import { declareCorpus } from '../support/corpus/corpus.js';

declareCorpus('http', { merge: true });
