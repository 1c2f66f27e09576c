import type { Cancellation } from '../../kernel/cancellation.ts'
import { AppError, modelNotFound } from '../../kernel/app-error.ts'
import { modelIdOf, type Deployment } from './deployment.ts'
import type { DeploymentDirectory } from './deployment-directory.ts'
import { refusalOf } from './refuse-deployment.ts'

/** Resolves when the deployment runs. Throws when it will not, or not in time. */
export type WaitForEngine = (deploymentId: string, request: WaitingRequest) => Promise<Deployment>

interface WaitingRequest {
  readonly cancellation: Cancellation
  /** In seconds, as the client says. */
  readonly wakeTimeout?: (() => string | undefined) | undefined
  /** The key of the client. */
  readonly keyId?: string | undefined
}

interface WaitOptions {
  readonly directory: Pick<DeploymentDirectory, 'find' | 'watch'>
  /** Wakes one that sleeps; once is enough, however many ask. Throws if this key may not spend what that costs. */
  readonly wake: (deployment: Deployment, keyId: string) => Promise<void>
  /** Of requests that do not say. */
  readonly waitMsMax: number
}

const RETRY_SECONDS = 10

/** Requests of a key that come while it sleeps share one wake, and all others of this process wait for the same change. */
export function createWaitForEngine({ directory, wake, waitMsMax }: WaitOptions): WaitForEngine {
  const waking = new Map<string, Promise<void>>()
  const wakeOnce = (deployment: Deployment, keyId: string): Promise<void> => {
    const name = `${deployment.id} ${keyId}`
    const running = waking.get(name)
    if (running !== undefined) return running
    const started = wake(deployment, keyId).finally(() => waking.delete(name))
    waking.set(name, started)
    return started
  }

  return async (deploymentId, { cancellation, wakeTimeout, keyId }) => {
    const { promise, resolve, reject } = Promise.withResolvers<Deployment>()
    const look = (): void => {
      const deployment = directory.find(deploymentId)?.deployment
      if (deployment === undefined) return reject(modelNotFound(modelIdOf(deploymentId)))
      if (deployment.status === 'running') return resolve(deployment)
      const refusal = refusalOf(deployment)
      if (refusal !== null) return reject(refusal)
      if (deployment.desiredState === 'sleeping')
        wakeOnce(deployment, keyId ?? deployment.keyId).catch(reject)
    }
    const unwatch = directory.watch(deploymentId, look)
    const timer = setTimeout(() => reject(stillWaking()), readWaitMs(wakeTimeout?.()) ?? waitMsMax)
    const leave = (reason: unknown) => reject(reason)
    cancellation.onCancel(leave)
    try {
      look()
      return await promise
    } finally {
      unwatch()
      clearTimeout(timer)
      cancellation.offCancel(leave)
    }
  }
}

const WAIT_SECONDS_MAX = 600

/** Null for what is no time. */
function readWaitMs(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Math.min(Number(text), WAIT_SECONDS_MAX) * 1000 : null
}

function stillWaking(): AppError {
  return new AppError('deployment_waking', 'The deployment is not ready yet. Try again.', {
    retryAfterSeconds: RETRY_SECONDS,
  })
}
