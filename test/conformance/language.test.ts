// HelixQL through a real server: the cases of test/corpus/language.
import { declareCorpus } from '../support/corpus/corpus.js';

declareCorpus('language', { merge: true, together: true });
