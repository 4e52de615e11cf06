// The types of the LDBC SNB topology that the queries use: properties, and endpoints of edges. A folder can
// have more types, which are loaded too: see ldbc-folder.ts.

/** `I64` or `String`, by property. */
export const nodeProperties: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Person: {
    firstName: 'String',
    lastName: 'String',
    gender: 'String',
    birthday: 'String',
    creationDate: 'I64',
    locationIP: 'String',
    browserUsed: 'String',
  },
  Forum: { title: 'String', creationDate: 'I64' },
  Post: { creationDate: 'I64' },
  Comment: { creationDate: 'I64' },
  Tag: { name: 'String' },
  TagClass: { name: 'String' },
  Place: { name: 'String' },
  Organisation: { name: 'String' },
};

export const edgeEnds: Readonly<Record<string, readonly [from: string, to: string]>> = {
  Knows: ['Person', 'Person'],
  PersonIsLocatedIn: ['Person', 'Place'],
  HasInterest: ['Person', 'Tag'],
  StudyAt: ['Person', 'Organisation'],
  WorkAt: ['Person', 'Organisation'],
  LikesPost: ['Person', 'Post'],
  LikesComment: ['Person', 'Comment'],
  HasMember: ['Forum', 'Person'],
  HasModerator: ['Forum', 'Person'],
  ContainerOf: ['Forum', 'Post'],
  ForumHasTag: ['Forum', 'Tag'],
  PostHasCreator: ['Post', 'Person'],
  PostHasTag: ['Post', 'Tag'],
  PostIsLocatedIn: ['Post', 'Place'],
  CommentHasCreator: ['Comment', 'Person'],
  CommentHasTag: ['Comment', 'Tag'],
  CommentIsLocatedIn: ['Comment', 'Place'],
  ReplyOfPost: ['Comment', 'Post'],
  ReplyOfComment: ['Comment', 'Comment'],
  HasType: ['Tag', 'TagClass'],
  IsSubclassOf: ['TagClass', 'TagClass'],
  OrganisationIsLocatedIn: ['Organisation', 'Place'],
  PlaceIsPartOf: ['Place', 'Place'],
};

/** Read by the queries. */
export const edgeProperties: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Knows: { creationDate: 'I64' },
  WorkAt: { workFrom: 'I64' },
};
