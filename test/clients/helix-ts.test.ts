// The official TypeScript client, unchanged, against a running server: checklist rows H16 to H19,
// H32 and H35.
import { HelixDB } from 'helix-ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Server, startServer } from '../support/server/server.js';

/** The schema and queries of a first program: users who follow each other and write posts. */
const sources = {
  'schema.hx': `
N::User {
  INDEX name: String, age: U32, email: String,
  created_at: Date DEFAULT NOW, updated_at: Date DEFAULT NOW
}
N::Post { content: String, created_at: Date DEFAULT NOW }
E::Follows { From: User, To: User, Properties: { since: Date DEFAULT NOW } }
E::Created { From: User, To: Post, Properties: { created_at: Date DEFAULT NOW } }
V::Embedding { text: String }
`,
  'queries.hx': `
QUERY createUser(name: String, age: U32, email: String) =>
  user <- AddN<User>({name: name, age: age, email: email})
  RETURN user
QUERY createFollow(follower_id: ID, followed_id: ID) =>
  follower <- N<User>(follower_id)
  followed <- N<User>(followed_id)
  AddE<Follows>::From(follower)::To(followed)
  RETURN "success"
QUERY createPost(user_id: ID, content: String) =>
  user <- N<User>(user_id)
  post <- AddN<Post>({content: content})
  AddE<Created>::From(user)::To(post)
  RETURN post
QUERY getUsers() => users <- N<User> RETURN users
QUERY getPosts() => posts <- N<Post> RETURN posts
QUERY getPostsByUser(user_id: ID) => posts <- N<User>(user_id)::Out<Created> RETURN posts
QUERY getFollowedUsers(user_id: ID) => followed <- N<User>(user_id)::Out<Follows> RETURN followed
QUERY getFollowedUsersPosts(user_id: ID) =>
  followers <- N<User>(user_id)::Out<Follows>
  posts <- followers::Out<Created>::RANGE(0, 40)
  RETURN posts::{ post: content, creatorID: _::In<Created>::ID }
QUERY addEmbedding(vector: [F64], text: String) =>
  e <- AddV<Embedding>(vector, {text: text})
  RETURN e
QUERY searchEmbedding(vector: [F64], k: I64) =>
  e <- SearchV<Embedding>(vector, k)
  RETURN e
`,
};

let server: Server;
let client: HelixDB;
beforeAll(async () => {
  server = await startServer({ sources });
  client = new HelixDB(`http://localhost:${server.port}`);
});
afterAll(() => server?.dispose());

describe('P09 a first program by helix-ts [H35]', () => {
  test('creates, links, reads and searches', async () => {
    const ann = (await client.query('createUser', { name: 'Ann', age: 30, email: 'a@x.org' })).user;
    const bob = (await client.query('createUser', { name: 'Bob', age: 25, email: 'b@x.org' })).user;
    expect(ann).toMatchObject({ label: 'User', name: 'Ann', age: 30, email: 'a@x.org' });
    expect(typeof ann.id).toBe('string');
    expect(typeof ann.created_at).toBe('string');
    const follow = { follower_id: ann.id, followed_id: bob.id };
    expect(await client.query('createFollow', follow)).toEqual({ data: 'success' });
    await client.query('createPost', { user_id: bob.id, content: 'Hello' });
    const { followed } = await client.query('getFollowedUsers', { user_id: ann.id });
    expect(followed.map((user: { name: string }) => user.name)).toEqual(['Bob']);
    const { posts } = await client.query('getFollowedUsersPosts', { user_id: ann.id });
    expect(posts).toEqual([{ post: 'Hello', creatorID: [bob.id] }]);
    await client.query('addEmbedding', { vector: [1, 0], text: 'east' });
    const found = await client.query('searchEmbedding', { vector: [1, 0.1], k: 1 });
    expect(found.e[0].text).toBe('east');
  });

  test('no data at all reaches a query without parameters [H17]', async () => {
    const { users } = await client.query('getUsers', undefined as never);
    expect(users).toHaveLength(2);
    expect((await client.query('getUsers', {})).users).toHaveLength(2);
  });
});

describe('errors are JSON that the client can read [H18]', () => {
  const failing: [string, object][] = [
    ['nothing', {}],
    ['createUser', { name: 1 }],
    ['getFollowedUsers', { user_id: '00000000-0000-7000-8000-000000000000' }],
  ];
  for (const [endpoint, data] of failing)
    test(endpoint, async () => {
      const failure = await client.query(endpoint, data).then(
        (answer) => JSON.stringify(answer),
        (error: Error) => `${error.name}: ${error.message}`,
      );
      expect(failure).not.toMatch(/SyntaxError|Unexpected token|not valid JSON/);
    });
});

test('a base URL that ends in a slash works, with a key too [H19]', async () => {
  const slash = new HelixDB(`http://localhost:${server.port}/`, 'any-key');
  expect((await slash.query('getUsers', {})).users).toHaveLength(2);
});

test('both spellings of the loopback address work [H16]', async () => {
  for (const host of ['127.0.0.1', 'localhost']) {
    const other = new HelixDB(`http://${host}:${server.port}`);
    expect((await other.query('getPosts', {})).posts).toHaveLength(1);
  }
});

test('a dashboard runs queries by their introspected parameters [H32]', async () => {
  const reply = await server.client.request({ method: 'GET', path: 'introspect' });
  const { queries } = JSON.parse(reply.text) as {
    queries: { name: string; parameters: Record<string, string> }[];
  };
  const create = queries.find((query) => query.name === 'createUser')!;
  expect(create.parameters).toEqual({ name: 'String', age: 'U32', email: 'String' });
  const search = queries.find((query) => query.name === 'searchEmbedding')!;
  expect(search.parameters).toEqual({ vector: 'Array(F64)', k: 'I64' });
});
