import type { Caller, Environment } from '../keys/keys.ts'

type SandboxAudience = 'auto' | 'everybody' | 'operators' | 'nobody'

const SANDBOX_ENVIRONMENTS: ReadonlySet<Environment> = new Set(['dev', 'test'])

/** Whether the sandbox answers this key where no provider of a model is configured. */
export type MayUseSandbox = (caller: Pick<Caller, 'environment' | 'isOperator'>) => boolean

/**
 * Keys of the dev and test environments only, and beside real providers only those of the operator's accounts: a tenant that pays for models
 * must not be sold made-up answers, nor get a free model by naming another environment.
 */
export function createSandboxPolicy({
  audience,
  hasProviders,
}: {
  audience: SandboxAudience
  hasProviders: boolean
}): MayUseSandbox {
  const served = audience === 'auto' ? (hasProviders ? 'operators' : 'everybody') : audience
  if (served === 'nobody') return () => false
  return ({ environment, isOperator = false }) =>
    SANDBOX_ENVIRONMENTS.has(environment) && (served === 'everybody' || isOperator)
}
