// Python against a running server: the official client, and models that are made from `/openapi.json`
// (client.md 7, P09). Their packages are installed by long tests only, where Python is.
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeFolder } from '../support/project.js';
import { type Server, startServer } from '../support/server/server.js';

const environment = join(tmpdir(), 'trellis-python-0.2.31-0.89.0');
const python = join(environment, 'bin/python');
const installMs = 240_000;

/** Why there is no Python with the packages; undefined where there is. */
function missing(): string | undefined {
  if (process.env.TRELLIS_TEST_LONG !== '1') return 'only long tests install packages of others';
  if (existsSync(join(environment, 'ready'))) return undefined;
  const run = (program: string, ...argv: string[]): string | undefined => {
    const { status, stderr, error } = spawnSync(program, argv, {
      encoding: 'utf8',
      timeout: installMs,
    });
    return status === 0 ? undefined : (stderr || String(error)).trim().slice(-300);
  };
  const packages = ['helix-py==0.2.31', 'datamodel-code-generator==0.89.0'];
  const fault =
    run('python3', '-m', 'venv', environment) ??
    run(python, '-m', 'pip', 'install', '-q', '--disable-pip-version-check', ...packages);
  if (fault === undefined) writeFileSync(join(environment, 'ready'), '');
  return fault;
}
const fault = missing();
if (fault !== undefined) console.log(`Python is not asked: ${fault}`);

const source = `
N::Person { UNIQUE INDEX name: String, born: I64, at: Date }
QUERY add(name: String, born?: I64) => p <- AddN<Person>({name: name, born: born}) RETURN p
QUERY named(name: String) => p <- N<Person>({name: name}) RETURN p
QUERY all() => people <- N<Person> RETURN people::{name, born}
`;

describe.skipIf(fault !== undefined)('Python', () => {
  let server: Server;
  let folder: string;
  beforeAll(async () => {
    server = await startServer({ sources: { 'main.hx': source } });
    folder = makeFolder();
  });
  afterAll(() => server.dispose());

  function run(code: string): unknown {
    const { status, stdout, stderr } = spawnSync(python, ['-c', code], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect([status, status === 0 ? '' : stderr]).toEqual([0, '']);
    return JSON.parse(stdout);
  }

  test('P09 helix-py', () => {
    const told = run(`
import json
from helix import Client
db = Client(local=True, port=${server.port}, verbose=False)
added = db.query('add', {'name': 'Ada', 'born': 9007199254740993})
print(json.dumps([added, db.query('named', {'name': 'Ada'}), db.query('all')]))
`) as { p?: object; people?: object }[][];
    const [added, named, all] = told as [{ p: { id: string } }[], { p: object }[], object[]];
    expect(added[0]!.p).toMatchObject({ label: 'Person', name: 'Ada', at: null });
    expect(named).toEqual(added);
    expect(JSON.stringify(all)).toContain('Ada');
  });

  test('P09 models of datamodel-code-generator', async () => {
    const { text } = await server.client.request({ path: 'openapi.json', method: 'GET' });
    writeFileSync(join(folder, 'openapi.json'), text);
    const argv = ['--input', 'openapi.json', '--input-file-type', 'openapi'];
    const more = ['--output', 'models.py', '--openapi-scopes', 'schemas', 'paths'];
    const model = ['--output-model-type', 'pydantic_v2.BaseModel'];
    const program = join(environment, 'bin/datamodel-codegen');
    const made = spawnSync(program, [...argv, ...more, ...model], { cwd: folder });
    expect(made.status).toBe(0);
    expect(
      run(`
import json, urllib.request
from models import AddPostRequest, AddPostResponse, AllPostResponse
def post(name, body):
    request = urllib.request.Request('http://127.0.0.1:${server.port}/' + name, body.encode())
    request.add_header('Content-Type', 'application/json')
    return urllib.request.urlopen(request).read()
sent = AddPostRequest(name='Blaise', born=9007199254740993).model_dump_json()
person = AddPostResponse.model_validate_json(post('add', sent)).p
people = AllPostResponse.model_validate_json(post('all', '{}')).people
try:
    AddPostRequest(born=1)
    refused = False
except ValueError:
    refused = True
print(json.dumps([person.name, str(person.born), len(people) > 0, refused]))
`),
    ).toEqual(['Blaise', '9007199254740993', true, true]);
  });
});
