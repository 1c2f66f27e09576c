import { modelNotFound } from '../../kernel/app-error.ts'
import type { InferenceAnswer, InferenceCall, Provider, StreamAnswer } from '../../providers/provider.ts'
import { UpstreamError } from '../../providers/upstream-error.ts'
import { deploymentIdOf, type Deployment } from './deployment.ts'
import type { DeploymentActivity } from './deployment-activity.ts'
import type { DeploymentDirectory } from './deployment-directory.ts'
import type { WaitForEngine } from './wait-for-engine.ts'

interface DeploymentProviderOptions {
  /** Of the driver; answers say it. */
  readonly id: string
  readonly directory: Pick<DeploymentDirectory, 'find'>
  readonly activity: Pick<DeploymentActivity, 'begin'>
  readonly waitForEngine: WaitForEngine
  /** Who speaks to the engine at an endpoint of this driver. */
  readonly connect: (endpoint: string) => Provider
}

/** The deployments of one driver as a provider: finds the engine of a model, wakes it where it sleeps, and counts what is in flight. */
export function createDeploymentProvider(options: DeploymentProviderOptions): Provider {
  const { id, directory, activity, waitForEngine, connect } = options

  const chat = async (call: InferenceCall): Promise<InferenceAnswer> => {
    const deploymentId = deploymentIdOf(call.upstreamModel) ?? ''
    const known = directory.find(deploymentId)?.deployment
    if (known === undefined) throw modelNotFound(call.upstreamModel)
    const deployment = known.status === 'running' ? known : await waitForEngine(deploymentId, call)
    const end = activity.begin(deploymentId)
    try {
      const answer = await ask(deployment, call)
      if (answer.kind === 'stream') return countStream(answer, end)
      end()
      return answer
    } catch (error) {
      end()
      throw error
    }
  }

  const ask = (deployment: Deployment, call: InferenceCall): Promise<InferenceAnswer> => {
    const { endpoint, huggingfaceId } = deployment
    const engine = endpoint === null ? undefined : connect(endpoint)
    if (engine?.chat === undefined)
      throw new UpstreamError(`${id}: the engine cannot be asked`, { failure: 'connect', provider: id })
    return engine.chat({ ...call, upstreamModel: huggingfaceId })
  }

  return { id, isConfigured: true, isSingle: true, whenLeft: 'stops', chat }
}

function countStream(answer: StreamAnswer, end: () => void): StreamAnswer {
  const { batches } = answer
  const counted = async function* () {
    try {
      yield* batches
    } finally {
      end()
    }
  }
  return { kind: 'stream', batches: counted(), isTerminated: () => answer.isTerminated() }
}
