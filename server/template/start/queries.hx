// The queries of the project. Call each with POST /<name>; the parameters are the members of the JSON
// body. A query that adds can run again: what is there already is updated.

// Adds a person, or updates the one with this name.
QUERY addPerson(name: String, born: I32) =>
    person <- N<Person>({name: name})::UpsertN({name: name, born: born})
    RETURN person

// Adds a book that a person wrote, or updates the one with this title.
QUERY addBook(author: String, title: String, year: I32) =>
    book <- N<Book>({title: title})::UpsertN({title: title, year: year})
    UpsertE<Wrote>::From(N<Person>({name: author}))::To(book)
    RETURN book

// All people, the oldest first, and how many books each wrote.
QUERY people() =>
    people <- N<Person>::ORDER<Asc>(_::{born})
    RETURN people::{name, born, books: _::Out<Wrote>::COUNT}

// Books of a person, the oldest first.
QUERY booksOf(name: String) =>
    books <- N<Person>({name: name})::Out<Wrote>::ORDER<Asc>(_::{year})
    RETURN books::{title, year}

// Books of some years, both included, and who wrote them.
QUERY booksBetween(first: I32, last: I32) =>
    books <- N<Book>::WHERE(AND(_::{year}::GTE(first), _::{year}::LTE(last)))
    RETURN books::{title, year, authors: _::In<Wrote>::{name}}
