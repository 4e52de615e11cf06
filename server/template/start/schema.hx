// What there is: nodes (N), edges between them (E). Edit and save: `trellis dev` takes it over.

N::Person {
    UNIQUE INDEX name: String,
    born: I32
}

N::Book {
    UNIQUE INDEX title: String,
    INDEX year: I32
}

E::Wrote { From: Person, To: Book, Properties: {} }
