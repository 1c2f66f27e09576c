import type { Caller, Environment } from '../../keys/keys.ts'

type SandboxAudience = 'auto' | 'everybody' | 'operators' | 'nobody'

const SANDBOX_ENVIRONMENTS: ReadonlySet<Environment> = new Set(['dev', 'test'])

/** Whether the sandbox answers this key if no provider of the model is configured. */
export type MayUseSandbox = (caller: Pick<Caller, 'environment' | 'isOperator'>) => boolean

/**
 * Only keys of the dev and test environments may use the sandbox. If real providers are configured, only keys of the operator's
 * accounts may. A paying tenant must not be charged for made-up answers, nor get a free model by naming another environment.
 */
export function createSandboxPolicy({
  audience,
  hasProviders,
}: {
  audience: SandboxAudience
  /** Whether real providers are configured now. */
  hasProviders: () => boolean
}): MayUseSandbox {
  if (audience === 'nobody') return () => false
  const isForEverybody = () => audience === 'everybody' || (audience === 'auto' && !hasProviders())
  return ({ environment, isOperator = false }) =>
    SANDBOX_ENVIRONMENTS.has(environment) && (isOperator || isForEverybody())
}
