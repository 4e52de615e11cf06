// The `mcp/` endpoints through a real server: the cases of test/corpus/sessions.
import { declareCorpus } from '../support/corpus/corpus.js';

declareCorpus('sessions', { merge: true, together: true });
