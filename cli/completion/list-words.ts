import type { GatewayClient } from '../api/gateway-client.ts'
import { profilePath, readProfiles } from '../profile/profile-file.ts'
import type { ListKind } from './command-tree.ts'

/** The longest time that Tab may take. */
const ANSWER_MS_MAX = 2_000
const COUNT = 100

/** Shells put these words into the command line, where other characters would be obeyed. */
const SAFE_WORD = /^[\w./:@+-]{1,200}$/

/** Returns the words of a kind for the completion of a shell; none if the gateway does not answer at once. */
export async function listWords(kind: ListKind, connect: () => GatewayClient): Promise<string[]> {
  try {
    const words = await LISTS[kind](connect, AbortSignal.timeout(ANSWER_MS_MAX))
    return words.filter((word) => SAFE_WORD.test(word) && !word.startsWith('-'))
  } catch {
    // An error message would be written into the command line.
    return []
  }
}

type List = (connect: () => GatewayClient, signal: AbortSignal) => Promise<string[]>

const LISTS: Readonly<Record<ListKind, List>> = {
  models: async (connect, signal) => {
    const { data } = await connect().call((routes) => routes.GET('/v1/models', { signal }))
    return data.map(({ id }) => id)
  },
  deployments: async (connect, signal) => {
    const query = { limit: COUNT }
    const { data } = await connect().call((routes) =>
      routes.GET('/v1/deployments', { params: { query }, signal }),
    )
    return data.filter(({ status }) => status !== 'deleted').map(({ id }) => id)
  },
  tasks: async (connect, signal) => {
    const { data } = await connect().call((routes) => routes.GET('/v1/tasks', { signal }))
    return data.map(({ id }) => id)
  },
  tiers: async (connect, signal) => {
    const { data } = await connect().call((routes) => routes.GET('/v1/gpu-tiers', { signal }))
    return data.map(({ id }) => id)
  },
  profiles: async () => Object.keys(readProfiles(profilePath(process.env)).profiles),
}
