// Bulk loads: many elements in one request and one transaction. `seed.ndjson` calls them when the
// database is empty.

QUERY loadPeople(rows: [{key: String, name: String, field: String, born: I32, died?: I32}]) =>
    FOR {key, name, field, born, died} IN rows {
        AddN<Person>({key: key, name: name, field: field, born: born, died: died})
    }
    RETURN "loaded"

QUERY loadIdeas(rows: [{key: String, name: String, summary: String}]) =>
    FOR {key, name, summary} IN rows {
        AddN<Idea>({key: key, name: name, summary: summary})
    }
    RETURN "loaded"

// Authors and ideas are keys of people and ideas that are there already.
QUERY loadWorks(rows: [{
    key: String,
    title: String,
    year: I32,
    kind: String,
    field: String,
    authors: [String],
    ideas: [String]
}]) =>
    FOR row IN rows {
        work <- AddN<Work>({
            key: row.key,
            title: row.title,
            year: row.year,
            kind: row.kind,
            field: row.field
        })
        FOR author IN row.authors {
            AddE<Wrote>::From(N<Person>({key: author}))::To(work)
        }
        FOR idea IN row.ideas {
            AddE<About>::From(work)::To(N<Idea>({key: idea}))
        }
    }
    RETURN "loaded"

QUERY loadPassages(rows: [{work: String, text: String}]) =>
    FOR {work, text} IN rows {
        passage <- AddV<Passage>(Embed(text), {text: text})
        AddE<HasPassage>::From(N<Work>({key: work}))::To(passage)
    }
    RETURN "loaded"

QUERY linkWorks(rows: [{later: String, earlier: String}]) =>
    FOR {later, earlier} IN rows {
        AddE<BuildsOn>::From(N<Work>({key: later}))::To(N<Work>({key: earlier}))
    }
    RETURN "linked"

QUERY linkPeople(rows: [{teacher: String, pupil: String}]) =>
    FOR {teacher, pupil} IN rows {
        AddE<Influenced>::From(N<Person>({key: teacher}))::To(N<Person>({key: pupil}))
    }
    RETURN "linked"
