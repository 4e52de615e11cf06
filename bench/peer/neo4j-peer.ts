// Neo4j embedded, in a process of its own: Maven brings its packages into bench/peers/neo4j (git-ignored), javac
// compiles Neo4jPeer.java there. Needs Java 17 or newer with its compiler, and Maven; without them one printed
// line says why it is left out.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PeerProcess, failureOf } from './peer-process.js';

const version = '5.26.0';
const folder = resolve('bench', 'peers', 'neo4j');
const libraries = join(folder, `lib-${version}`);

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>bench</groupId><artifactId>neo4j</artifactId><version>1</version>
<dependencies><dependency><groupId>org.neo4j</groupId><artifactId>neo4j</artifactId>
<version>${version}</version></dependency></dependencies>
</project>
`;

/** The reason why it cannot be had here, undefined after it is there. */
function install(): string | undefined {
  if (process.platform === 'win32') return 'named pipes are not available on Windows';
  const noJava = failureOf('javac', ['-version']) ?? failureOf('java', ['-version']);
  if (noJava !== undefined) return `Java is not installed (${noJava})`;
  if (!existsSync(join(libraries, 'complete'))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'pom.xml'), pom);
    console.log(`installing Neo4j ${version} into bench/peers/neo4j`);
    const output = `-DoutputDirectory=${libraries}`;
    const goal = [
      '-q',
      '-B',
      '-f',
      join(folder, 'pom.xml'),
      'dependency:copy-dependencies',
      output,
    ];
    const fault = failureOf('mvn', goal);
    if (fault !== undefined) return fault;
    writeFileSync(join(libraries, 'complete'), '');
  }
  const source = resolve('bench', 'peer', 'Neo4jPeer.java');
  return failureOf('javac', ['-nowarn', '-cp', join(libraries, '*'), '-d', folder, source]);
}

/**
 * Starts the database of a folder. `description` says what it loads: see Neo4jPeer.java. Undefined, with a printed
 * reason, when it cannot be had here.
 */
export function openNeo4j(store: string, description: object): PeerProcess | undefined {
  const reason = install();
  const place = mkdtempSync(join(tmpdir(), 'neo4j-peer-'));
  const file = join(place, 'description.json');
  writeFileSync(file, JSON.stringify(description));
  const classes = `${folder}:${join(libraries, '*')}`;
  const args = ['-Xmx2g', '-XX:+UseParallelGC', '-cp', classes, 'Neo4jPeer', store, file];
  const peer = reason === undefined ? new PeerProcess('java', args, place) : undefined;
  const fault = reason ?? peer!.read().error;
  process.once('exit', () => rmSync(place, { recursive: true, force: true }));
  if (fault === undefined) return peer;
  console.log(`Neo4j is left out: ${fault}`);
  void peer?.end();
  return undefined;
}
