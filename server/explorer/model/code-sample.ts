// Prints one call as a command or a program to paste elsewhere. The API key is a variable of the environment
// and is never copied. Pure.

export interface Call {
  /** Origin of the server, without a trailing slash. */
  origin: string;
  path: string;
  /** JSON text. */
  body: string;
  hasKey: boolean;
}

const inShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export function asCurl({ origin, path, body, hasKey }: Call): string {
  const lines = [
    `curl -s ${inShell(`${origin}/${path}`)}`,
    `-H 'Content-Type: application/json'`,
    ...(hasKey ? ['-H "x-api-key: $TRELLIS_API_KEY"'] : []),
    `-d ${inShell(body)}`,
  ];
  return lines.join(' \\\n  ');
}

export function asTypeScript({ origin, path, body, hasKey }: Call): string {
  const key = hasKey ? "\n    'x-api-key': process.env.TRELLIS_API_KEY ?? ''," : '';
  return `const response = await fetch(${JSON.stringify(`${origin}/${path}`)}, {
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',${key}
  },
  body: ${JSON.stringify(body)},
});
if (!response.ok) throw new Error(await response.text());
console.log(await response.json());
`;
}

export function asPython({ origin, path, body, hasKey }: Call): string {
  const key = hasKey ? '\n        "x-api-key": os.environ["TRELLIS_API_KEY"],' : '';
  return `import json
import os
import urllib.request

request = urllib.request.Request(
    ${JSON.stringify(`${origin}/${path}`)},
    data=${JSON.stringify(body)}.encode(),
    headers={
        "Content-Type": "application/json",${key}
    },
)
with urllib.request.urlopen(request) as response:
    print(json.load(response))
`;
}
