// The calls of the worked examples with their exact answers. `g1`, `p2`, … stand for ids, `NEW` for
// the id of anything that a call created, `J` for the day of the garden, `NOW` for the instant of
// the call. Every example starts from the garden; its calls follow each other.

export type Call = [query: string, body: string, answer: string];

export interface Example {
  name: string;
  compat?: boolean;
  calls: Call[];
}

const gardener = (id: string, email: string, city: string, name: string, level: number): string =>
  `{"id":"${id}","label":"Gardener","email":"${email}","city":"${city}","name":"${name}",` +
  `"level":${level},"joined":"J"}`;
const g1 = gardener('g1', 'ana@x.org', 'Porto', 'Ana', 3);
const g2 = gardener('g2', 'bo@x.org', 'Lund', 'Bo', 1);
const g3 = gardener('g3', 'cy@x.org', 'Porto', 'Cy', 2);
const grows = (id: string, from: string, to: string, since: string, rating: number): string =>
  `{"id":"${id}","label":"Grows","from_node":"${from}","to_node":"${to}","since":"${since}",` +
  `"rating":${rating}}`;
const bed = (id: string, code: string, guess: number): string =>
  `{"id":"${id}","label":"Bed","code":"${code}","guess":${guess}}`;
const hit = (id: string, score: number, distance: number, text: string): string =>
  `{"id":"${id}","label":"Note","score":${score},"distance":${distance},"text":"${text}","lang":"en"}`;
const plantRow = (n: string): string =>
  `{"owner":"g2","rows":[{"species":"mentha","n":${n},"care":{"light":"half"},` +
  `"notes":[{"text":"Mint spreads","vec":[1,2]}]}]}`;

export const examples: Example[] = [
  {
    name: 'X01 create',
    calls: [
      [
        'addGardener',
        '{"email":"dia@x.org","city":"Lund","name":"Dia"}',
        '{"g":{"id":"NEW","label":"Gardener","email":"dia@x.org","city":"Lund","name":"Dia","level":1,"joined":"NOW"}}',
      ],
      [
        'addGardener',
        '{"email":"ana@x.org","city":"Lund","name":"Other"}',
        'UNIQUE_VIOLATION Duplicate key on unique index: Gardener.email',
      ],
    ],
  },
  {
    name: 'X02 scans and slices',
    calls: [
      ['gardeners', '{}', `{"all":[${g1},${g2},${g3}]}`],
      ['page', '{"start":1,"end":99}', '{"data":[{"name":"Bo"},{"name":"Cy"}]}'],
      ['page', '{"start":2,"end":1}', '{"data":[]}'],
      ['scans', '{"edge":"r1"}', '{"es":["f1","f2"],"one":{"rating":5},"vs":["n1","n2","n3"]}'],
      [
        'page',
        '{"start":-1,"end":1}',
        'PARAM_RANGE `start` must be between 0 and 4294967295, got -1.',
      ],
    ],
  },
  {
    name: 'X03 select by property',
    calls: [
      ['inCity', '{"city":"Lund"}', `{"found":[${g2}]}`],
      ['inCity', '{"city":"Oslo"}', '{"found":[]}'],
      ['tall', '{"height":1.1}', '{"found":["p2"]}'],
      ['byEmail', '{"email":"bo@x.org"}', `{"g":${g2}}`],
      ['byEmail', '{"email":"no@x.org"}', 'NO_VALUE_FOUND'],
    ],
  },
  {
    name: 'X04 vectors',
    calls: [
      ['addPhoto', '{"vec":[0.5,0.25,1]}', '{"v":{"id":"NEW","label":"Photo"}}'],
      ['addPhoto', '{"vec":[1,2]}', 'VECTOR_DIMENSION'],
      ['addPhoto', '{"vec":[]}', 'VECTOR_EMPTY'],
      ['addNote', '{"vec":[0,2],"text":"new"}', '{"v":"NEW"}'],
      [
        'note',
        '{"id":"n2"}',
        '{"v":{"id":"n2","label":"Note","text":"Roses need sun","lang":"en"}}',
      ],
      ['noteData', '{"id":"n2"}', '{"v":{"text":"Roses need sun","data":[0.6,0.8]}}'],
      ['note', '{"id":"p1"}', 'NO_VALUE_FOUND'],
    ],
  },
  {
    name: 'X05 embedding',
    calls: [['remember', '{"plant":"p1","text":"Keep moist"}', '{"v":"NEW"}']],
  },
  {
    name: 'X06 edges',
    calls: [
      ['grow', '{"who":"g3","plant":"Sage"}', `{"e":${grows('NEW', 'g3', 'p3', 'NOW', 3)}}`],
      ['grow', '{"who":"g3","plant":"Yew"}', 'NO_VALUE_FOUND'],
      [
        'grow',
        '{"who":"b1","plant":"Sage"}',
        'EDGE_ENDPOINT_TYPE Grows goes from Gardener to Plant, got Bed.',
      ],
    ],
  },
  {
    name: 'X07 projections',
    calls: [
      [
        'names',
        '{}',
        '{"g":[{"name":"Ana","city":"Porto"},{"name":"Bo","city":"Lund"},{"name":"Cy","city":"Porto"}]}',
      ],
      ['card', '{}', '{"g":{"who":"Ana","city":"Porto"}}'],
      ['ids', '{}', '{"g":["g1","g2","g3"]}'],
      [
        'full',
        '{"id":"p1"}',
        '{"p":{"plantId":"p1","title":"Fern","label":"Plant","species":"polypod","height":0.4,"tags":["shade"],"stock":3,"serial":null}}',
      ],
      [
        'slim',
        '{"id":"p2"}',
        '{"p":{"id":"p2","label":"Plant","species":"rosa","name":"Rose","height":1.1,"stock":0}}',
      ],
    ],
  },
  {
    name: 'X08 literals and objects',
    calls: [
      ['ping', '{}', '{"data":"pong"}'],
      ['quiet', '{}', '{}'],
      ['both', '{"id":"g1"}', '{"g":{"name":"Ana"},"n":2,"data":"ok"}'],
      ['report', '{"id":"g1"}', '{"data":{"who":"Ana","plants":["p1","p2"],"tags":[1,2,null]}}'],
    ],
  },
  {
    name: 'X09 steps',
    calls: [
      [
        'around',
        '{"id":"g1"}',
        `{"plants":["p1","p2"],"edges":[${grows('r1', 'g1', 'p1', 'J', 5)},${grows('r2', 'g1', 'p2', 'J', 2)}],` +
          '"growers":["g1","g1","g2"],"back":["g1","g1","g2"],"heads":["p1","p2"],"notes":["n1","n2"],' +
          '"from":["p1","p2"],"citing":["n2"]}',
      ],
    ],
  },
  {
    name: 'X10 conditions',
    calls: [
      [
        'pick',
        '{"city":"Porto","low":3}',
        '{"a":["g1"],"b":["g2","g3"],"c":["g2"],"some":["g1","g2"],"none":["g3"]}',
      ],
      ['unset', '{}', '{"data":{"eq":0,"neq":3,"gt":0,"isUnset":3}}'],
    ],
  },
  {
    name: 'X11 membership',
    calls: [
      [
        'lists',
        '{"names":["Sage","Yew"],"star":"g2"}',
        '{"a":["p2"],"b":["p2"],"c":["p3"],"d":["g1","g3"],"e":["p3"]}',
      ],
    ],
  },
  {
    name: 'X12 order',
    calls: [['top', '{"n":2}', '{"best":["p2","p3"],"busy":{"name":"Ana"},"nobody":null}']],
  },
  {
    name: 'X13 groups',
    calls: [
      [
        'counts',
        '{}',
        '{"n":2,"d":1,"cities":[{"city":"Porto","count":2},{"city":"Lund","count":1}],' +
          `"low":[{"count":1,"data":[${g2}]},{"count":1,"data":[${g3}]}]}`,
      ],
      ['growsAll', '{"names":["Fern","Rose"]}', '{"g":[{"name":"Ana"}]}'],
      ['growsAll', '{"names":[]}', '{"g":[]}'],
    ],
  },
  {
    name: 'X14 nested projections',
    calls: [
      [
        'profile',
        '{"id":"g1"}',
        '{"g":{"name":"Ana","followers":0,"popular":false,"plants":[' +
          '{"title":"Fern","owner":"Ana","notes":["Ferns like shade"],"bed":"A"},' +
          '{"title":"Rose","owner":"Ana","notes":["Roses need sun"],"bed":null}]}}',
      ],
    ],
  },
  {
    name: 'X15 arithmetic',
    calls: [
      [
        'figures',
        '{}',
        '{"ps":[{"name":"Fern","double":6,"half":1.5,"next":null},{"name":"Rose","double":0,"half":0,"next":null},' +
          '{"name":"Sage","double":14,"half":3.5,"next":null}]}',
      ],
      ['totals', '{}', '{"stats":{"total":10,"mean":0.7,"tallest":1.1,"n":3}}'],
      ['ratio', '{"a":1,"b":0}', 'ARITHMETIC DIV failed: division by zero.'],
    ],
  },
  {
    name: 'X16 updates',
    calls: [
      ['rename', '{"id":"p1","name":"Big Fern"}', '{"p":{"name":"Big Fern","stock":3}}'],
      ['rename', '{"id":"p1","name":"Fern"}', '{"p":{"name":"Fern","stock":3}}'],
      ['restock', '{"n":10}', '{"ps":[{"name":"Fern","stock":13},{"name":"Rose","stock":10}]}'],
      ['rename', '{"id":"p1","name":"Fern"}', '{"p":{"name":"Fern","stock":13}}'],
    ],
  },
  {
    name: 'X16 range check',
    calls: [
      ['restock', '{"n":2147483647}', 'PARAM_RANGE'],
      ['rename', '{"id":"p1","name":"Fern"}', '{"p":{"name":"Fern","stock":3}}'],
    ],
  },
  {
    name: 'X17 upserts',
    calls: [
      [
        'saveGardener',
        '{"email":"bo@x.org","city":"Oslo"}',
        '{"g":{"name":"Bo","city":"Oslo","level":1}}',
      ],
      [
        'saveGardener',
        '{"email":"eve@x.org","city":"Oslo"}',
        '{"g":{"name":null,"city":"Oslo","level":1}}',
      ],
      [
        'rate',
        '{"a":"g1","b":"p1","rating":1}',
        '{"e":{"rating":1,"from_node":"g1","to_node":"p1"}}',
      ],
      ['saveNote', '{"vec":[1,1],"text":"Roses need sun"}', '{"v":"n2"}'],
      ['noteData', '{"id":"n2"}', '{"v":{"text":"Roses need sun","data":[1,1]}}'],
    ],
  },
  {
    name: 'X18 deletions',
    calls: [
      ['removePlant', '{"id":"p2"}', '{"data":"removed"}'],
      ['note', '{"id":"n2"}', 'NO_VALUE_FOUND'],
      ['scans', '{"edge":"r2"}', 'NO_VALUE_FOUND'],
      ['scans', '{"edge":"r1"}', '{"es":["f1","f2"],"one":{"rating":5},"vs":["n1","n3"]}'],
      ['unfollow', '{"a":"g1","b":"g2"}', '{}'],
      ['scans', '{"edge":"r1"}', '{"es":["f2"],"one":{"rating":5},"vs":["n1","n3"]}'],
      ['forget', '{"id":"00000000-0000-7000-8000-000000000000"}', '{"data":"done"}'],
    ],
  },
  {
    name: 'X19 loops',
    calls: [
      ['plantAll', plantRow('4'), '{"data":"planted"}'],
      ['plantAll', plantRow('"4"'), 'PARAM_TYPE'],
      ['growsAll', '{"names":[]}', '{"g":[]}'],
      [
        'promote',
        '{"city":"Porto"}',
        '{"data":[{"name":"Ana","level":4},{"name":"Cy","level":3}]}',
      ],
    ],
  },
  {
    name: 'X20 several edges',
    calls: [
      ['followCity', '{"who":"g2","city":"Porto"}', '{"es":[{"to_node":"g1"},{"to_node":"g3"}]}'],
      ['followCity', '{"who":"g2","city":"Porto"}', 'UNIQUE_VIOLATION'],
      ['followCity', '{"who":"g2","city":"Oslo"}', '{"es":[]}'],
      ['photos', '{"vecs":[[1,0,0],[0,1,0]]}', '{"vs":2}'],
    ],
  },
  {
    name: 'X21 vector search',
    calls: [
      [
        'similar',
        '{"vec":[1,0],"k":2}',
        `{"hits":[${hit('n1', 1, 0, 'Ferns like shade')},${hit('n2', 0.6, 0.4, 'Roses need sun')}],` +
          '"plants":[{"name":"Fern"},{"name":"Rose"}]}',
      ],
      ['similar', '{"vec":[1,0],"k":0}', 'PARAM_RANGE'],
      ['similar', '{"vec":[1],"k":2}', 'VECTOR_DIMENSION'],
    ],
  },
  {
    name: 'X22 filters and search within',
    calls: [
      [
        'filtered',
        '{"vec":[1,0],"word":"sun","who":"g1"}',
        '{"pre":["n2"],"post":[],"mine":[{"id":"n1","score":1},{"id":"n2","score":0.6}]}',
      ],
    ],
  },
  {
    name: 'X23 keyword search',
    calls: [
      ['words', '{"text":"roses","k":5}', '{"found":[{"name":"Rose","score":0.86313}]}'],
      ['words', '{"text":"?!","k":5}', '{"found":[]}'],
    ],
  },
  {
    name: 'X24 rerankers',
    calls: [
      [
        'diverse',
        '{"vec":[1,0],"lambda":0.3}',
        '{"a":[{"id":"n1","score":0.016393},{"id":"n2","score":0.016129},{"id":"n3","score":0.015873}],' +
          '"b":[{"id":"n1","score":0.3},{"id":"n3","score":0},{"id":"n2","score":-0.38}]}',
      ],
      ['diverse', '{"vec":[1,0],"lambda":1.5}', 'PARAM_RANGE'],
    ],
  },
  {
    name: 'X25 shortest paths',
    calls: [
      [
        'routes',
        '{"a":"b1","b":"b3"}',
        `{"hops":{"path":[${bed('b1', 'A', 3)},${bed('b3', 'C', 0)}],` +
          '"edges":[{"id":"l3","label":"Lane","from_node":"b1","to_node":"b3","metres":9,"muddy":false}],' +
          '"total_weight":1,"hop_count":1},"bfs":{"hop_count":1},"short":{"total_weight":4,"hop_count":2},' +
          '"star":{"total_weight":4},"cost":{"total_weight":9,"hop_count":1}}',
      ],
      ['routes', '{"a":"b3","b":"b1"}', 'NO_PATH No path from b3 to b1.'],
    ],
  },
  {
    name: 'X26 optional parameters',
    calls: [
      ['find', '', '{"g":["g1","g2","g3"]}'],
      ['find', '{"city":"Porto","low":3}', '{"g":["g1"]}'],
      ['patch', '{"id":"g1","city":"Braga"}', '{"g":{"name":"Ana","city":"Braga"}}'],
    ],
  },
  {
    name: 'X27 exact numbers and dates',
    calls: [
      [
        'tag',
        '{"id":"p1","serial":18446744073709551615,"since":"2026-01-01T01:00:00.5+01:00"}',
        '{"p":{"serial":18446744073709551615},"e":[{"since":"2026-01-01T00:00:00.500+00:00"}],"since":"2026-01-01T00:00:00.500+00:00"}',
      ],
      [
        'tag',
        '{"id":"p1","serial":-1,"since":"2026-02-30"}',
        'PARAM_RANGE `serial` must be between 0 and 18446744073709551615, got -1.',
      ],
      ['tag', '{"id":"p1","serial":1.0}', 'PARAM_TYPE'],
    ],
  },
  {
    name: 'X28 compatibility',
    compat: true,
    calls: [
      ['inCity', '{"city":"Porto"}', `{"found":${g1}}`],
      ['inCity', '{"city":"Oslo"}', 'NO_VALUE_FOUND'],
      ['growsAll', '{"names":["Fern","Rose"]}', '{"g":["Ana"]}'],
      ['quiet', '{}', 'null'],
      ['report', '{"id":"g1"}', '{"who":"Ana","plants":["p1","p2"],"tags":[1,2,null]}'],
      [
        'similar',
        '{"vec":[1,0],"k":1}',
        '{"hits":[{"id":"n1","label":"Note","score":0.0,"distance":0.0,' +
          '"text":"Ferns like shade","lang":"en","data":[1.0,0.0]}],"plants":["Fern"]}',
      ],
    ],
  },
];
