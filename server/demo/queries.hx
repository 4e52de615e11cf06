// Queries of the demo. Each is reached as POST /<name>; its parameters are the members of the JSON
// body.

// By property, by id, by position

QUERY person(key: String) =>
    person <- N<Person>({key: key})
    RETURN person

QUERY work(key: String) =>
    work <- N<Work>({key: key})
    RETURN work::{
        workId: ID,
        authors: _::In<Wrote>::{name},
        ideas: _::Out<About>::{name},
        passage: _::Out<HasPassage>::FIRST::{text},
        ..
    }

QUERY workById(id: ID) =>
    work <- N<Work>(id)
    RETURN work

QUERY worksOfYear(year: I32) =>
    works <- N<Work>({year: year})
    RETURN works::{key, title, field}

QUERY people(start: U32, end: U32) =>
    people <- N<Person>::RANGE(start, end)
    RETURN people::{personId: ID, key, name, field}

// Traversals

QUERY worksOf(person: String) =>
    works <- N<Person>({key: person})::Out<Wrote>::ORDER<Asc>(_::{year})
    RETURN works::{key, title, year}

// From a person over all works to the ideas they are about.
QUERY ideasOf(person: String) =>
    ideas <- N<Person>({key: person})::Out<Wrote>::Out<About>
    RETURN ideas::{name, summary}

// Teachers of teachers: two steps against the direction of the edge.
QUERY ancestry(key: String) =>
    person <- N<Person>({key: key})
    first <- person::In<Influenced>
    second <- first::In<Influenced>
    RETURN first::{name, born}, second::{name, born}

// What a work builds on, and which works build on it.
QUERY neighbours(key: String) =>
    work <- N<Work>({key: key})
    RETURN work::{
        title,
        earlier: _::Out<BuildsOn>::{title, year},
        later: _::In<BuildsOn>::{title, year}
    }

// Conditions, order, counts

QUERY worksBetween(field: String, first: I32, last: I32) =>
    works <- N<Work>::WHERE(AND(
        _::{field}::EQ(field),
        _::{year}::GTE(first),
        _::{year}::LTE(last)
    ))::ORDER<Asc>(_::{year})
    RETURN works::{title, year}

// Works that nothing in this collection came before.
QUERY beginnings() =>
    works <- N<Work>::WHERE(!EXISTS(_::Out<BuildsOn>))::ORDER<Asc>(_::{year})
    RETURN works::{title, year}

QUERY mostBuiltOn(count: U8) =>
    works <- N<Work>::ORDER<Desc>(_::In<BuildsOn>::COUNT)::RANGE(0, count)
    RETURN works::{title, year, builtOnBy: _::In<BuildsOn>::COUNT}

QUERY counts() =>
    people <- N<Person>::COUNT
    works <- N<Work>::COUNT
    ideas <- N<Idea>::COUNT
    passages <- V<Passage>::COUNT
    links <- E<BuildsOn>::COUNT
    RETURN people, works, ideas, passages, links

// Search: by meaning, by keyword

// The passages nearest to a text, and the works they belong to.
#[mcp]
QUERY passagesLike(text: String, k: I64) =>
    passages <- SearchV<Passage>(Embed(text), k)
    RETURN passages

QUERY worksLike(text: String, k: I64) =>
    passages <- SearchV<Passage>(Embed(text), k)
    works <- passages::In<HasPassage>
    RETURN passages::{score, text}, works::{key, title, year}

QUERY findPassages(words: String, limit: U32) =>
    passages <- SearchBM25<Passage>(words, limit)
    RETURN passages::{score, text, work: _::In<HasPassage>::FIRST::{title}}

QUERY findWorks(words: String, limit: U32) =>
    works <- SearchBM25<Work>(words, limit)
    RETURN works::{score, title, year}

// By meaning and by words in one list: what both find stands in front.
QUERY searchPassages(text: String, limit: U32) =>
    passages <- RerankRRF(SearchV<Passage>(Embed(text), 50), SearchBM25<Passage>(text, 50))
        ::RANGE(0, limit)
    RETURN passages::{score, text, work: _::In<HasPassage>::FIRST::{title}}

// A search that an agent may continue as a traversal.
#[mcp]
QUERY ideasAbout(words: String) =>
    ideas <- SearchBM25<Idea>(words, 10)
    RETURN ideas

// Changes

QUERY createReadingList(name: String) =>
    list <- AddN<ReadingList>({name: name})
    RETURN list

QUERY addToReadingList(list: ID, work: String, position: U8, note: String) =>
    entry <- AddE<Contains>({position: position, note: note})::From(list)::To(N<Work>({key: work}))
    RETURN entry

QUERY readingLists() =>
    lists <- N<ReadingList>
    RETURN lists::{
        listId: ID,
        name,
        done,
        works: _::OutE<Contains>::{position, note, title: _::ToN::{title}}
    }

QUERY updateReadingList(id: ID, name: String, done: Boolean) =>
    list <- N<ReadingList>(id)::UPDATE({name: name, done: done})
    RETURN list

QUERY dropReadingList(id: ID) =>
    DROP N<ReadingList>(id)
    RETURN "dropped"

QUERY addWork(person: String, key: String, title: String, year: I32, field: String, text: String) =>
    author <- N<Person>({key: person})
    work <- AddN<Work>({key: key, title: title, year: year, field: field})
    passage <- AddV<Passage>(Embed(text), {text: text})
    AddE<Wrote>::From(author)::To(work)
    AddE<HasPassage>::From(work)::To(passage)
    RETURN work, passage

// Deletes a work with its passage; edges go with their ends.
QUERY dropWork(key: String) =>
    DROP N<Work>({key: key})::Out<HasPassage>
    DROP N<Work>({key: key})
    RETURN "dropped"
