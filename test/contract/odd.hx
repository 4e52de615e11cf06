// What is hard to name and to type: types called like parts of the document and like forms of other types,
// pages, unions, members that may be absent.
N::Error { INDEX code: String, at: Date }
V::Note { body: String }
V::Note_hit { body: String }
N::Promise { of: Date }
N::Record { a: I8 }
N::Work { title: String, year: I64, tags: [String] }
E::Mentions { From: Note, To: Work }
E::Cites { From: Work, To: Work, Properties: { why: String } }
QUERY errors() => e <- N<Error> RETURN e
QUERY links() => e <- E<Cites> RETURN e
QUERY notes(v: [F64]) => found <- SearchV<Note>(v, 3) RETURN found
QUERY others(v: [F64]) => found <- SearchV<Note_hit>(v, 3) RETURN found
QUERY plainOthers() => found <- V<Note_hit> RETURN found
QUERY page(after?: String) => works <- N<Work>::PAGE(10, after) RETURN works
QUERY sorted(after?: String) => works <- N<Work>::ORDER<Asc>(_::{year})::{title, year}::PAGE(10, after) RETURN works
QUERY given(one?: {a: I8, b?: [String]}, many: [{c: Date}]) =>
  FOR {c} IN many { AddN<Error>({ code: "a", at: c }) }
  x <- AddN<Work>({ tags: one.b })
  RETURN x
QUERY counted() => n <- N<Work>::COUNT m <- N<Work>::GROUP_BY(year) RETURN n, m
QUERY promise() => p <- N<Promise> RETURN p
QUERY class() => p <- N<Record> RETURN p
QUERY delete(default: Date, new?: [F64]) => p <- AddN<Promise>({of: default}) RETURN p, new
QUERY version() => RETURN "mine"
