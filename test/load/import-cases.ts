// Files, the command lines that load them, and what is there afterwards (import.test.ts).

export const source = `
N::Person { UNIQUE INDEX email: String, name: String, age: I64, born: Date, tags: [String] }
N::City { UNIQUE INDEX code: I64, name: String }
V::Note { UNIQUE INDEX key: String, text: String }
E::Knows { From: Person, To: Person, Properties: { since: Date, weight: F64 } }
E::Lives UNIQUE { From: Person, To: City, Properties: { years: I64 } }
QUERY all() =>
  people <- N<Person>::{ name, email, age, born, tags }
  cities <- N<City>::{ name, code }
  notes <- V<Note>::{ key, text }
  knows <- E<Knows>::{ a: _::FromN::{name}, b: _::ToN::{name}, since, weight }
  lives <- E<Lives>::{ a: _::FromN::{name}, b: _::ToN::{name}, years }
  RETURN people, cities, notes, knows, lives
QUERY find(words: String) => p <- SearchBM25<Person>(words, 9) RETURN p::{name}
QUERY near(vec: [F64]) => v <- SearchV<Note>(vec, 1) RETURN v::{key}
QUERY clear() => DROP N<Person> DROP N<City> DROP V<Note> RETURN "ok"
`;

export interface ImportCase {
  /** Loaded first, each of its own. */
  before?: Record<string, string>;
  files: Record<string, string>;
  /** Command lines; `./` is the folder of the files. */
  runs: string[][];
  data: Record<string, string[]>;
  rejects?: string[];
  /** What is printed, or the error. */
  out?: RegExp[];
}

const lines = (...all: string[]): string => `${all.join('\n')}\n`;
const people = lines('id,name', '1,Ada', '2,Bob');
const cities = lines('id,name', '1,Rome', '2,Oslo');

export const cases: Record<string, ImportCase> = {
  'names are those of one type, and edges come last': {
    files: {
      'Person.csv': people,
      'City.csv': cities,
      'Lives.csv': lines('from,to,years', '1,2,3', '2,1,4', '9,1,5'),
    },
    runs: [['./Lives.csv', './Person.csv', './City.csv']],
    data: { people: ['Ada', 'Bob'], cities: ['Rome', 'Oslo'], lives: ['Ada Oslo 3', 'Bob Rome 4'] },
    rejects: ['Lives.csv:4 NO_VALUE_FOUND'],
    out: [/1 x Lives\.csv:4: No value found: from "9" is no row/],
  },

  'the same files again, only when told to; wherever they lie': {
    files: { 'City.csv': cities, 'copy/City.csv': cities },
    runs: [['./City.csv'], ['./copy/City.csv'], ['./City.csv', '--reimport'], ['./City.csv']],
    data: { cities: ['Rome', 'Oslo', 'Rome', 'Oslo'] },
    out: [/these files were imported before: 2 nodes, .*loaded again\nadd --reimport to import/],
  },
  'vectors once, and again when told to': {
    files: { 'a.ndjson': lines('{"vector":"Note","values":[1,2],"properties":{"text":"a"}}') },
    runs: [
      ['./a.ndjson'],
      ['./a.ndjson'],
      ['./a.ndjson', '--reimport'],
      ['./a.ndjson', '--reimport'],
    ],
    data: { notes: ['a', 'a', 'a'] },
  },
  'TYPE=FILE and a delimiter': {
    files: { 'x.csv': lines('id|name', '1|"A|B"', '2|Bob'), 'y.csv': lines('from|to', '1|2') },
    runs: [['Knows=./y.csv', 'Person=./x.csv', '--delimiter', '|']],
    data: { people: ['A|B', 'Bob'], knows: ['A|B Bob'] },
  },
  'edges found by unique properties, in what is stored too': {
    before: { 'City.csv': lines('code,name', '7,Rome') },
    files: {
      'Person.csv': lines('email,name', 'a@x,Ada', 'b@x,Bob'),
      'Lives.csv': lines('from,to,years', 'a@x,7,3', 'b@x,8,4', 'c@x,7,5', 'b@x,old,6'),
      'map.toml': lines('[[files]]', 'path = "Lives.csv"', 'from_key = "email"', 'to_key = "code"'),
    },
    runs: [['./Lives.csv', './Person.csv', '--mapping', './map.toml']],
    data: { people: ['Ada a@x', 'Bob b@x'], cities: ['Rome 7'], lives: ['Ada Rome 3'] },
    rejects: ['Lives.csv:3 NO_VALUE_FOUND', 'Lives.csv:4 NO_VALUE_FOUND', 'Lives.csv:5 PARAM_TYPE'],
  },
  'keys of ends by flags': {
    before: { 'Person.csv': lines('email,name', 'a@x,Ada', 'b@x,Bob') },
    files: { 'k.ndjson': lines('{"edge":"Knows","from":"a@x","to":"b@x"}') },
    runs: [['Knows=./k.ndjson', '--from-key', 'email', '--to-key', 'email']],
    data: { people: ['Ada a@x', 'Bob b@x'], knows: ['Ada Bob'] },
  },
  'no key without a unique index': {
    files: { 'Knows.csv': lines('from,to', 'Ada,Bob') },
    runs: [['./Knows.csv', '--from-key', 'name']],
    data: {},
    out: [/from_key` must be a property of Person that has a unique index, got name/],
  },
  'rows that change what has their value, and keep the rest': {
    before: { 'Person.csv': lines('email,name,age', 'a@x,Ada,36', 'b@x,Bob,7') },
    files: {
      'more.csv': lines('id,email,age', '1,a@x,37', '2,c@x,5', '3,a@x,38', '4,,1'),
      'Knows.csv': lines('from,to', '1,2', '3,2'),
    },
    runs: [['Person=./more.csv', './Knows.csv', '--upsert', 'email']],
    data: { people: ['Ada a@x 38', 'Bob b@x 7', 'c@x 5'], knows: ['Ada', 'Ada'] },
    rejects: ['more.csv:5 PARAM_MISSING'],
    out: [/2 of them were there and have new values/],
  },
  'columns by a mapping': {
    files: {
      'p.csv': lines('nr;who;mail;when;junk', '1;Ada;a@x;10.12.1815;x', '2;Bob;b@x;1.2.2003;y'),
      'k.csv': lines('a;b;d', '1;2;5.6.2007'),
      'map.toml': lines(
        'delimiter = ";"',
        'date_format = "DD.MM.YYYY"',
        '[[files]]',
        'path = "k.csv"',
        'edge = "Knows"',
        'from = "a"',
        'to = "b"',
        'columns = { d = "since" }',
        '[[files]]',
        'path = "p.csv"',
        'node = "Person"',
        'id = "nr"',
        'skip = ["junk"]',
        'columns = { who = "name", mail = "email", when = "born" }',
      ),
    },
    runs: [['--mapping', './map.toml']],
    data: {
      people: ['Ada a@x 1815-12-10T00:00:00+00:00', 'Bob b@x 2003-02-01T00:00:00+00:00'],
      knows: ['Ada Bob 2007-06-05T00:00:00+00:00'],
    },
  },
  'an LDBC topology folder in one command': {
    files: {
      'snb/nodes/Person.csv': lines('id,name', '1,Ada', '2,Bob'),
      'snb/nodes/City.csv': lines('id,name', '1,Rome'),
      'snb/edges/Knows.csv': lines('from,to,creationDate', '1,2,20100214153210447'),
      'snb/edges/Lives.csv': lines('from,to', '1,1', '2,1'),
      'ldbc.toml': lines(
        'date_format = "YYYYMMDDhhmmssSSS"',
        '[[files]]',
        'path = "nodes/City.csv"',
        'id = "id"',
        'columns = { id = "code" }',
        '[[files]]',
        'path = "nodes/*.csv"',
        '[[files]]',
        'path = "edges/*.csv"',
        'columns = { creationDate = "since" }',
      ),
    },
    runs: [['./snb', '--mapping', './ldbc.toml']],
    data: {
      people: ['Ada', 'Bob'],
      cities: ['Rome 1'],
      knows: ['Ada Bob 2010-02-14T15:32:10.447+00:00'],
      lives: ['Ada Rome', 'Bob Rome'],
    },
  },
  "Neo4j's own headers": {
    files: {
      'people.csv': lines(
        'personId:ID(Person),name:string,age:int,tags:string[],:LABEL,x:IGNORE',
        'p1,"Ada, Countess",36,red;blue,Person,?',
        'p2,Bob,,,Other;Person,?',
        'p3,Cy,x,,Person,?',
        'p4,Di,,,Robot,?',
      ),
      'cities.csv': lines('code:ID(City),name,:LABEL', '1,Rome,City'),
      'rels.csv': lines(
        ':START_ID(Person),weight:double,:END_ID(Person),:TYPE',
        'p1,0.5,p2,Knows',
        'p1,1.5,p9,Knows',
      ),
      'lives.csv': lines(':START_ID(Person),:END_ID(City),:TYPE', 'p2,1,Lives'),
    },
    runs: [['./rels.csv', './lives.csv', './people.csv', './cities.csv']],
    data: {
      people: ['Ada, Countess 36 red,blue', 'Bob'],
      cities: ['Rome 1'],
      knows: ['Ada, Countess Bob 0.5'],
      lives: ['Bob Rome'],
    },
    rejects: ['people.csv:4 PARAM_TYPE', 'people.csv:5 PARAM_VALUE', 'rels.csv:3 NO_VALUE_FOUND'],
  },
  'a header in a file of its own': {
    files: {
      'head.csv': ':ID,name',
      'part.csv': lines('1,Ada', '2,Bob,7'),
      'map.toml': lines('[[files]]', 'path = "part.csv"', 'node = "Person"', 'header = "head.csv"'),
    },
    runs: [['./part.csv', '--mapping', './map.toml']],
    data: { people: ['Ada'] },
    rejects: ['part.csv:2 PARAM_VALUE'],
  },
  'rows whose ends come later, in one stream': {
    files: {
      'all.ndjson': lines(
        '{"node":"Person","id":"a","properties":{"name":"Ada"}}',
        '{"edge":"Knows","from":"a","to":"b","properties":{"weight":1}}',
        '{"edge":"Knows","from":"a","to":"nobody"}',
        '{"edge":"Lives","from":"b","to":"c"}',
        '{"edge":"Lives","from":"b","to":"c"}',
        '{"node":"Person","id":"b","properties":{"name":"Bob"}}',
        '{"node":"City","id":"c","properties":{"name":"Rome"}}',
        '{"edge":"Lives","from":"a","to":"b"}',
      ),
    },
    runs: [['./all.ndjson']],
    data: {
      people: ['Ada', 'Bob'],
      cities: ['Rome'],
      knows: ['Ada Bob 1'],
      lives: ['Bob Rome'],
    },
    rejects: [
      'all.ndjson:3 NO_VALUE_FOUND',
      'all.ndjson:5 UNIQUE_VIOLATION',
      'all.ndjson:8 EDGE_ENDPOINT_TYPE',
    ],
  },
  'lines of records with line feeds in them': {
    files: { 'Person.csv': lines('name,age', '"a', 'b",1', 'c,x', '"d', 'e",y', 'f,2', 'g,z') },
    runs: [['./Person.csv']],
    data: { people: ['a\nb 1', 'f 2'] },
    rejects: ['Person.csv:4 PARAM_TYPE', 'Person.csv:5 PARAM_TYPE', 'Person.csv:8 PARAM_TYPE'],
  },
};

/** What is refused before anything is loaded. */
export const refusals: Record<string, [Record<string, string>, string[], RegExp]> = {
  'no file': [{}, ['./none.csv'], /There is no file none\.csv/],
  'an unknown type': [{ 'a.csv': 'name\n' }, ['Persn=./a.csv'], /a\.csv: the schema has no type P/],
  'a type nobody says': [{ 'a.csv': 'name\n' }, ['./a.csv'], /a\.csv: no single type is called a/],
  'a long delimiter': [
    { 'Person.csv': 'name\n' },
    ['./Person.csv', '--delimiter', '||'],
    /The delimiter "\|\|" is not one ASCII character/,
  ],
  'two kinds of rows at once': [
    { 'a.csv': 'name\n' },
    ['./a.csv', '--node', 'Person', '--edge', 'Knows'],
    /--node and --edge exclude each other/,
  ],
  'a mapping that is no TOML': [
    { 'm.toml': 'files =\n' },
    ['--mapping', './m.toml'],
    /m\.toml:1:\d+ is not TOML/,
  ],
  'a mapping with a mistyped key': [
    { 'm.toml': '[[files]]\npath = "*.csv"\ncolums = {}\n' },
    ['--mapping', './m.toml'],
    /m\.toml: it has colums; did you mean columns\?/,
  ],
  'a mapping without its files': [
    { 'm.toml': '[[files]]\npath = "nodes/*.csv"\n' },
    ['--mapping', './m.toml'],
    /The mapping has nodes\/\*\.csv, and .* has no such file/,
  ],
  'a mapping of the wrong form': [
    { 'm.toml': '[[files]]\npath = "*"\nskip = "a"\n' },
    ['--mapping', './m.toml'],
    /m\.toml: `skip` must be a list of texts/,
  ],
  'no mapping': [{}, ['--mapping', './m.toml'], /There is no file m\.toml/],
  'nothing at all': [{}, [], /trellis import needs a file/],
  'a column for no property': [
    { 'Person.csv': 'name,x\n' },
    ['./Person.csv'],
    // And what to write, which the case of a mapping tries.
    new RegExp(
      'Person\\.csv, line 1: there is a column x; Person has no such property\\.\\s' +
        '.*skip = \\["x"\\].*columns = \\{ x = "PROPERTY" \\}',
    ),
  ],
  'a column that is nearly a property': [
    { 'Person.csv': 'nmae,x y\n' },
    ['./Person.csv'],
    /skip = \["nmae"\].*columns = \{ nmae = "name" \}/,
  ],
  'a column whose name is no bare key': [
    { 'Person.csv': 'name,x y\n' },
    ['./Person.csv'],
    /skip = \["x y"\].*columns = \{ "x y" = "PROPERTY" \}/,
  ],
};
