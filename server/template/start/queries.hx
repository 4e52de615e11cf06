// The queries of the project. Call each with POST /<name>; the parameters are the members of the JSON
// body.

// Adds a person.
QUERY addPerson(name: String, born: I32) =>
    person <- AddN<Person>({name: name, born: born})
    RETURN person

// Adds a book that a person wrote.
QUERY addBook(author: String, title: String, year: I32) =>
    book <- AddN<Book>({title: title, year: year})
    AddE<Wrote>::From(N<Person>({name: author}))::To(book)
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
