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
}

interface WaitOptions {
  readonly directory: Pick<DeploymentDirectory, 'find' | 'watch'>
  /** Wakes one that sleeps; once is enough, however many ask. */
  readonly wake: (deploymentId: string) => Promise<void>
  /** Of requests that do not say. */
  readonly waitMsMax: number
}

const RETRY_SECONDS = 10

/** Requests that come while it sleeps share one wake, and all others of this process wait for the same change. */
export function createWaitForEngine({ directory, wake, waitMsMax }: WaitOptions): WaitForEngine {
  const waking = new Map<string, Promise<void>>()
  const wakeOnce = (deploymentId: string): Promise<void> => {
    const running = waking.get(deploymentId)
    if (running !== undefined) return running
    const started = wake(deploymentId).finally(() => waking.delete(deploymentId))
    waking.set(deploymentId, started)
    return started
  }

  return async (deploymentId, { cancellation, wakeTimeout }) => {
    const { promise, resolve, reject } = Promise.withResolvers<Deployment>()
    const look = (): void => {
      const deployment = directory.find(deploymentId)?.deployment
      if (deployment === undefined) return reject(modelNotFound(modelIdOf(deploymentId)))
      if (deployment.status === 'running') return resolve(deployment)
      const refusal = refusalOf(deployment)
      if (refusal !== null) return reject(refusal)
      if (deployment.desiredState === 'sleeping') wakeOnce(deploymentId).catch(reject)
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
