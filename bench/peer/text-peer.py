# Holds one keyword search engine of `npm run bench -- text` in a process of its own, on one thread.
# bench/peer/text-peer.ts starts this program and reads the responses.
#   python3 text-peer.py KIND DATA
# KIND is `tantivy` or `bm25s`. DATA is a JSON file: {"documents": [text], "queries": [[text], ...]}. Requests are
# lines on standard input and responses are lines on standard output, each a JSON object:
#   {"op": "build"} -> {"cpu": seconds, "seconds": of wall time}
#   {"op": "time", "queries": n, "seconds": s} -> {"perSecond", "p50", "p99", "cpu"}: microseconds per search
#   {"op": "search", "queries": n} -> {"found": [[document, ...], ...]}: the ten best of each query
# A request that fails gets {"error": text}. The first line, before any request, is {"ready": true} or an error.
# Invariant: a timed search takes a text and gives the numbers of the ten best documents, as ours does, so the
# query is parsed each time. "cpu" is the CPU time of all threads.
import os

for name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'NUMBA_NUM_THREADS'):
    os.environ[name] = '1'

import json
import sys
import time

BEST = 10


class Tantivy:
    def __init__(self):
        import tantivy

        self.tantivy = tantivy

    def build(self, documents):
        builder = self.tantivy.SchemaBuilder()
        builder.add_integer_field('no', stored=False, fast=True, indexed=False)
        builder.add_text_field('body', stored=False, tokenizer_name='default')
        self.index = self.tantivy.Index(builder.build())
        writer = self.index.writer(heap_size=256_000_000, num_threads=1)
        for no, body in enumerate(documents):
            document = self.tantivy.Document()
            document.add_integer('no', no)
            document.add_text('body', body)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        self.index.reload()
        self.searcher = self.index.searcher()

    def search(self, text):
        query = self.index.parse_query(text, ['body'])
        hits = self.searcher.search(query, BEST, count=False).hits
        return self.searcher.fast_field_values('no', [address for _, address in hits])


class Bm25s:
    def __init__(self):
        import bm25s

        self.bm25s = bm25s

    def build(self, documents):
        self.retriever = self.bm25s.BM25(method='lucene', backend='numpy')
        tokens = self.bm25s.tokenize(documents, stopwords=None, show_progress=False)
        self.retriever.index(tokens, show_progress=False)
        self.vocabulary = self.retriever.vocab_dict

    def search(self, text):
        words = [word for word in text.lower().split() if word in self.vocabulary]
        if not words:
            return []
        found, scores = self.retriever.retrieve(
            [words], k=BEST, show_progress=False, n_threads=0, sorted=True
        )
        return [int(no) for no, score in zip(found[0], scores[0]) if score > 0]


engines = {'tantivy': Tantivy, 'bm25s': Bm25s}


def measure(engine, texts, seconds):
    times = []
    cpu = time.process_time()
    started = now = time.perf_counter_ns()
    end = started + seconds * 1e9
    while now < end:
        engine.search(texts[len(times) % len(texts)])
        after = time.perf_counter_ns()
        times.append(after - now)
        now = after
    cpu = time.process_time() - cpu
    times.sort()
    count = len(times)
    return {
        'perSecond': count / ((now - started) / 1e9),
        'p50': times[count // 2] / 1e3,
        'p99': times[min(count - 1, int(count * 0.99))] / 1e3,
        'cpu': cpu * 1e6 / count,
    }


def respond(engine, data, request):
    if request['op'] == 'build':
        cpu, wall = time.process_time(), time.perf_counter()
        engine.build(data['documents'])
        return {'cpu': time.process_time() - cpu, 'seconds': time.perf_counter() - wall}
    texts = data['queries'][request['queries']]
    if request['op'] == 'time':
        return measure(engine, texts, request['seconds'])
    return {'found': [engine.search(text) for text in texts]}


def main(kind, path):
    try:
        engine = engines[kind]()
        with open(path) as file:
            data = json.load(file)
    except Exception as error:
        print(json.dumps({'error': f'{type(error).__name__}: {error}'}), flush=True)
        return
    print(json.dumps({'ready': True}), flush=True)
    for line in sys.stdin:
        try:
            response = respond(engine, data, json.loads(line))
        except Exception as error:
            response = {'error': f'{type(error).__name__}: {error}'}
        print(json.dumps(response), flush=True)


main(sys.argv[1], sys.argv[2])
