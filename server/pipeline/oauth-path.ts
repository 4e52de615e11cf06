// The paths at which an MCP client looks for an authorization server after a 401. A client that gets another
// 401 there reports that one instead of the missing key. So these paths need no key, and answer 404.
export const isOAuthPath = (path: string): boolean =>
  path.startsWith('/.well-known/') || path === '/register';

export const oauthHint =
  'This server has no OAuth. Send an API key as `x-api-key`, or as a bearer token.';
