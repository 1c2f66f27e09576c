import { createGeneration, type Generation } from '../../modules/generation/generation.ts'
import type { Keys } from '../../modules/keys/keys.ts'
import { upstreamTimeouts } from './build-inference.ts'
import type { Config } from '../settings/config.ts'

type Own = 'timeouts' | 'trustedHostsOf' | 'formerCallerOf'
interface Parts extends Omit<Parameters<typeof createGeneration>[0], Own> {
  readonly keys: Pick<Keys, 'formerCallerOf'>
}

export function buildGeneration(config: Config, { keys, ...parts }: Parts): Generation {
  return createGeneration({
    ...parts,
    formerCallerOf: keys.formerCallerOf,
    timeouts: upstreamTimeouts(config),
    trustedHostsOf: (providerId) => hostsOf(config.providers.get(providerId)?.baseUrl ?? null),
  })
}

/** Returns the host of the operator's own server, from which results are fetched. It may be in a private network. */
function hostsOf(baseUrl: string | null): string[] {
  return baseUrl !== null && URL.canParse(baseUrl) ? [new URL(baseUrl).host] : []
}
