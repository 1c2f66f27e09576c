import { lookup, Resolver } from 'node:dns/promises'

/** Returns all addresses of a name. */
export type ResolveHost = (name: string) => Promise<readonly string[]>

const QUERY_MS_MAX = 3_000
const QUERY_TRIES_MAX = 2

/** Uses the system's resolver, including its hosts file. For names that the operator allows. */
export const resolveBySystem: ResolveHost = async (name) => {
  const found = await lookup(name, { all: true, verbatim: true })
  return found.map(({ address }) => address)
}

/**
 * Creates a resolver that only queries DNS servers, for names from clients. The system's resolver would block one of a few
 * threads for as long as a slow server takes, and file access shares those threads.
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
