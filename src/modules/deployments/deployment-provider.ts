import type { Cancellation } from '../../kernel/cancellation.ts'
import { modelNotFound } from '../../kernel/app-error.ts'
import type { InferenceAnswer, InferenceCall, Provider } from '../../providers/provider.ts'
import { UpstreamError } from '../../providers/failures/upstream-error.ts'
import { deploymentIdOf, type Deployment } from './deployment.ts'
import type { DeploymentActivity } from './deployment-activity.ts'
import type { DeploymentDirectory } from './deployment-directory.ts'
import type { DeploymentMeter } from './metrics/deployment-meter.ts'
import type { RequestsInFlight } from './requests-in-flight.ts'
import type { WaitForEngine } from './reconcile/wait-for-engine.ts'

interface EngineSlot {
  release(): void
}

/** Acquires one of the engine's slots for concurrent requests, or waits in the queue for one. Throws `queue_full`. */
export type AcquireEngineSlot = (request: {
  readonly deployment: Deployment
  /** The keys of an account take turns in the queue. */
  readonly keyId: string
  readonly cancellation: Cancellation
  /** Set for work that nobody waits for: it is called when somebody waits for the slot, and ends the work. */
  readonly giveWay?: (() => void) | undefined
}) => EngineSlot | Promise<EngineSlot>

interface DeploymentProviderOptions {
  /** The id of the driver. Answers name it as their provider. */
  readonly id: string
  readonly directory: Pick<DeploymentDirectory, 'find'>
  readonly activity: Pick<DeploymentActivity, 'begin'>
  readonly meter: Pick<DeploymentMeter, 'begin'>
  readonly inFlight: Pick<RequestsInFlight, 'begin'>
  readonly waitForEngine: WaitForEngine
  readonly acquireSlot: AcquireEngineSlot
  /** Returns the client for the engine at an endpoint of this driver. */
  readonly connect: (endpoint: string) => Provider
}

/**
 * Creates the provider for the deployments of one driver. It finds the engine of a model, wakes it if it sleeps, waits for a
 * slot, and counts requests in flight.
 */
export function createDeploymentProvider(options: DeploymentProviderOptions): Provider {
  const { id, directory, activity, meter, inFlight, waitForEngine, connect } = options

  const chat = async (call: InferenceCall): Promise<InferenceAnswer> => {
    const deploymentId = deploymentIdOf(call.upstreamModel) ?? ''
    const known = findRunning(deploymentId, call) ?? (await waitForEngine(deploymentId, call))
    // Counted before the wait for a slot, so that queued requests keep the engine awake.
    const use = new EngineUse(activity.begin(known.id))
    try {
      let deployment = known
      const taking = takeSlot(known, call)
      if (taking instanceof Promise) {
        use.slot = await taking
        // The deployment may have stopped while the request was in the queue.
        deployment = findRunning(deploymentId, call) ?? (await waitForEngine(deploymentId, call))
      } else use.slot = taking
      use.endFlight = inFlight.begin(known.id, call.cancellation)
      use.endMeter = meter.begin(known.id, 'in flight')
      call.onEnd?.(use.end)
      const answer = await ask(deployment, call)
      if (call.onEnd === undefined) use.end()
      return answer
    } catch (error) {
      use.end()
      throw error
    }
  }

  /** Returns undefined if the deployment is not running yet. Throws if it does not exist. */
  const findRunning = (deploymentId: string, { upstreamModel }: InferenceCall): Deployment | undefined => {
    const known = directory.find(deploymentId)?.deployment
    if (known === undefined) throw modelNotFound(upstreamModel)
    return known.status === 'running' ? known : undefined
  }

  const takeSlot = (
    deployment: Deployment,
    { keyId = deployment.keyId, cancellation, giveWay }: InferenceCall,
  ): EngineSlot | Promise<EngineSlot> => {
    const slot = options.acquireSlot({ deployment, keyId, cancellation, giveWay })
    return slot instanceof Promise ? slot.finally(meter.begin(deployment.id, 'queue')) : slot
  }

  const ask = (deployment: Deployment, call: InferenceCall): Promise<InferenceAnswer> => {
    const { endpoint, huggingfaceId } = deployment
    const engine = endpoint === null ? undefined : connect(endpoint)
    if (engine?.chat === undefined)
      throw new UpstreamError(`${id}: the engine cannot be asked`, { failure: 'connect', provider: id })
    return engine.chat({ ...call, upstreamModel: huggingfaceId })
  }

  return { id, isConfigured: true, isSingle: true, isOwnServer: true, onDisconnect: 'stops', chat }
}

/** The slot and counters that a request occupies until its answer has been read to the end. */
class EngineUse {
  slot: EngineSlot | null = null
  endFlight: (() => void) | null = null
  endMeter: (() => void) | null = null
  readonly #endActivity: () => void
  #isEnded = false

  constructor(endActivity: () => void) {
    this.#endActivity = endActivity
  }

  readonly end = (): void => {
    if (this.#isEnded) return
    this.#isEnded = true
    this.endFlight?.()
    this.endMeter?.()
    this.slot?.release()
    this.#endActivity()
  }
}
