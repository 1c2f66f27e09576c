import type { Cancellation } from '../../../kernel/cancellation.ts'
import { AppError, modelNotFound } from '../../../kernel/app-error.ts'
import { modelIdOf, type Deployment } from '../deployment.ts'
import type { DeploymentDirectory } from '../deployment-directory.ts'
import { refusalOf } from '../refuse-deployment.ts'

/** Resolves when the deployment is running. Throws if it will not start, or not before the timeout. */
export type WaitForEngine = (deploymentId: string, request: WaitingRequest) => Promise<Deployment>

interface WaitingRequest {
  readonly cancellation: Cancellation
  /** Returns the client's `x-wake-timeout` header, in seconds. */
  readonly wakeTimeout?: (() => string | undefined) | undefined
  /** The client's key. The default is the key that created the deployment. */
  readonly keyId?: string | undefined
}

interface WaitOptions {
  readonly directory: Pick<DeploymentDirectory, 'find' | 'watch'>
  /** Wakes a sleeping deployment. Repeated calls have no further effect. Throws if this key may not spend what a start costs. */
  readonly wake: (deployment: Deployment, keyId: string) => Promise<void>
  /** The timeout of requests without a valid `wakeTimeout`. */
  readonly waitMsMax: number
}

const RETRY_SECONDS = 10

/** Creates the wait. Requests of the same key to a sleeping deployment share one call of `wake`. */
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

/** Returns the timeout, at most ten minutes, or null if the text is not a whole number of seconds. */
function readWaitMs(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Math.min(Number(text), WAIT_SECONDS_MAX) * 1000 : null
}

function stillWaking(): AppError {
  return new AppError('deployment_waking', 'The deployment is not ready yet. Try again.', {
    retryAfterSeconds: RETRY_SECONDS,
  })
}
