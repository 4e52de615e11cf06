// Writes. A query that adds can run again: what is there already stays one.

// The same words in the same session are one episode.
QUERY addEpisode(user: String, session: String, text: String) =>
    episode <- V<Episode>::WHERE(AND(
        _::{session}::EQ(session),
        _::{user}::EQ(user),
        _::{text}::EQ(text)
    ))::UpsertV(Embed(text), {user: user, session: session, text: text})
    RETURN episode::{episodeId: ID, text}

QUERY addSubject(user: String, name: String) =>
    subject <- N<Subject>
        ::WHERE(AND(_::{name}::EQ(name), _::{user}::EQ(user)))
        ::UpsertN({user: user, name: name})
    RETURN subject

// Adds a fact, and the subject if it is new. The episode belongs to the same user.
QUERY addFact(
    user: String,
    subject: String,
    predicate: String,
    text: String,
    since: Date,
    episode: ID
) =>
    said <- V<Episode>(episode)::WHERE(_::{user}::EQ(user))::FIRST
    about <- N<Subject>
        ::WHERE(AND(_::{name}::EQ(subject), _::{user}::EQ(user)))
        ::UpsertN({user: user, name: subject})
    fact <- about::Out<Holds>::WHERE(AND(
        _::{predicate}::EQ(predicate),
        _::{text}::EQ(text),
        _::{valid_from}::EQ(since)
    ))::UpsertN({user: user, predicate: predicate, text: text, valid_from: since})
    UpsertE<Holds>::From(about)::To(fact)
    UpsertE<Supports>::From(said)::To(fact)
    RETURN fact::{factId: ID, text}

// The open facts of one predicate that began before a time end then: what comes next takes their place.
QUERY closeFacts(user: String, subject: String, predicate: String, at: Date) =>
    facts <- N<Subject>
        ::WHERE(AND(_::{name}::EQ(subject), _::{user}::EQ(user)))
        ::Out<Holds>
        ::WHERE(AND(
            _::{predicate}::EQ(predicate),
            _::{valid_from}::LT(at),
            _::{valid_to}::EQ(NONE)
        ))
        ::UPDATE({valid_to: at})
    RETURN facts::{text, valid_from, valid_to}

// Deletes all memories of a user.
QUERY forgetUser(user: String) =>
    episodes <- DROP V<Episode>::WHERE(_::{user}::EQ(user))
    facts <- DROP N<Fact>::WHERE(_::{user}::EQ(user))
    subjects <- DROP N<Subject>::WHERE(_::{user}::EQ(user))
    RETURN episodes, facts, subjects

// Reads

// The episodes that say what is nearest to a text.
#[mcp]
QUERY recallEpisodes(user: String, text: String, k: I64) =>
    episodes <- SearchV<Episode>(Embed(text), k)::PREFILTER(_::{user}::EQ(user))
    RETURN episodes

// What held at a time, with the words it was learnt from.
QUERY factsAsOf(user: String, subject: String, at: Date) =>
    facts <- N<Subject>
        ::WHERE(AND(_::{name}::EQ(subject), _::{user}::EQ(user)))
        ::Out<Holds>
        ::WHERE(AND(
            _::{valid_from}::LTE(at),
            OR(_::{valid_to}::EQ(NONE), _::{valid_to}::GT(at))
        ))
        ::ORDER<Asc>(_::{valid_from})
    RETURN facts::{text, predicate, valid_from, learntFrom: _::In<Supports>::{text}}

// All facts of one predicate about a subject, the earliest first.
QUERY history(user: String, subject: String, predicate: String) =>
    facts <- N<Subject>
        ::WHERE(AND(_::{name}::EQ(subject), _::{user}::EQ(user)))
        ::Out<Holds>
        ::WHERE(_::{predicate}::EQ(predicate))
        ::ORDER<Asc>(_::{valid_from})
    RETURN facts::{text, valid_from, valid_to}
