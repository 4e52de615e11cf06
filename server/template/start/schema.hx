// The types of the data: nodes (N), and edges between them (E). `trellis dev` reloads this file when you
// save it.

N::Person {
    UNIQUE INDEX name: String,
    born: I32
}

N::Book {
    UNIQUE INDEX title: String,
    INDEX year: I32
}

E::Wrote UNIQUE { From: Person, To: Book, Properties: {} }
