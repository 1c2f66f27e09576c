import { lookup, Resolver } from 'node:dns/promises'

/** Every address of a name. */
export type ResolveHost = (name: string) => Promise<readonly string[]>

const QUERY_MS_MAX = 3_000
const QUERY_TRIES_MAX = 2

/** As everything on this machine does, with its own file of hosts: for names that the operator knows. */
export const resolveBySystem: ResolveHost = async (name) => {
  const found = await lookup(name, { all: true, verbatim: true })
  return found.map(({ address }) => address)
}

/**
 * By asking name servers alone, for names that anybody can think of. The system's way takes one of a few threads for as long as a
 * server wants to keep it, and reading files waits for the same threads.
 */
export function createDnsResolver(): ResolveHost {
  const resolver = new Resolver({ timeout: QUERY_MS_MAX, tries: QUERY_TRIES_MAX })
  return async (name) => {
    if (/(?:^|\.)localhost\.?$/i.test(name)) return LOCALHOST
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    if (four.status === 'rejected' && six.status === 'rejected') throw four.reason
    return [
      ...(four.status === 'fulfilled' ? four.value : []),
      ...(six.status === 'fulfilled' ? six.value : []),
    ]
  }
}

const LOCALHOST = ['127.0.0.1', '::1']
