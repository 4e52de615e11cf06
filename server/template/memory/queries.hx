// Writes

QUERY addEpisode(session: String, text: String) =>
    episode <- AddV<Episode>(Embed(text), {text: text, session: session})
    RETURN episode::{episodeId: ID, text}

QUERY addSubject(name: String) =>
    subject <- AddN<Subject>({name: name})
    RETURN subject

QUERY addFact(subject: String, predicate: String, text: String, since: Date, episode: ID) =>
    fact <- AddN<Fact>({text: text, predicate: predicate, valid_from: since})
    AddE<Holds>::From(N<Subject>({name: subject}))::To(fact)
    AddE<Supports>::From(V<Episode>(episode))::To(fact)
    RETURN fact::{factId: ID, text}

// The open facts of one predicate end: what comes next takes their place.
QUERY closeFacts(subject: String, predicate: String, at: Date) =>
    facts <- N<Subject>({name: subject})
        ::Out<Holds>
        ::WHERE(AND(_::{predicate}::EQ(predicate), _::{valid_to}::EQ(NONE)))
        ::UPDATE({valid_to: at})
    RETURN facts::{text, valid_from, valid_to}

// Reads

// The episodes that say what is nearest to a text.
#[mcp]
QUERY recallEpisodes(text: String, k: I64) =>
    episodes <- SearchV<Episode>(Embed(text), k)
    RETURN episodes

// What held at a time, with the words it was learnt from.
QUERY factsAsOf(subject: String, at: Date) =>
    facts <- N<Subject>({name: subject})::Out<Holds>::WHERE(AND(
        _::{valid_from}::LTE(at),
        OR(_::{valid_to}::EQ(NONE), _::{valid_to}::GT(at))
    ))::ORDER<Asc>(_::{valid_from})
    RETURN facts::{text, predicate, valid_from, learntFrom: _::In<Supports>::{text}}

// All facts of one predicate about a subject, the earliest first.
QUERY history(subject: String, predicate: String) =>
    facts <- N<Subject>({name: subject})
        ::Out<Holds>
        ::WHERE(_::{predicate}::EQ(predicate))
        ::ORDER<Asc>(_::{valid_from})
    RETURN facts::{text, valid_from, valid_to}
