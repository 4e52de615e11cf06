// Prints the configuration that common MCP hosts need for a database.

export interface Connection {
  /** Address of a remote server. */
  url?: string;
  /** Command by which the host starts this program. */
  command: string;
  args: readonly string[];
  key?: string;
}

interface Host {
  /** Member of the configuration that contains the servers. */
  servers: string;
  overUrl: (url: string, headers: object | undefined) => object;
}

const plainHost: Host = {
  servers: 'mcpServers',
  overUrl: (url, headers) => ({ type: 'http', url, ...(headers && { headers }) }),
};

export const hosts: Readonly<Record<string, Host>> = {
  claude: plainHost,
  cursor: {
    ...plainHost,
    overUrl: (url, headers) => ({ url, ...(headers && { headers }) }),
  },
  vscode: { ...plainHost, servers: 'servers' },
  windsurf: {
    ...plainHost,
    overUrl: (serverUrl, headers) => ({ serverUrl, ...(headers && { headers }) }),
  },
};

/** Returns JSON text to paste. */
export function hostConfig(host: Host, name: string, connection: Connection): string {
  const { url, command, args, key } = connection;
  const secret = key === undefined ? undefined : { 'x-api-key': key };
  const env = key === undefined ? {} : { env: { TRELLIS_API_KEY: key } };
  const isTyped = host.servers === 'servers';
  const local = { ...(isTyped && { type: 'stdio' }), command, args, ...env };
  const entry = url === undefined ? local : host.overUrl(url, secret);
  return JSON.stringify({ [host.servers]: { [name]: entry } }, null, 2);
}
