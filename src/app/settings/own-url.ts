/** Returns the URL at which this machine reaches a gateway with this host and port. */
export function ownUrlOf({ host, port }: { host: string; port: number }): string {
  const name = WILDCARDS.has(host) ? 'localhost' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '::'])
