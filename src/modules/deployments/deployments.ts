import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { Sealer } from '../../kernel/seal-text.ts'
import type { GpuSample } from '../../gpu/gpu-driver.ts'
import type { GpuRegistry } from '../../gpu/registry.ts'
import type { Hub } from '../../hub/hub.ts'
import type { ModelCache } from '../../hub/model-cache/model-cache.ts'
import type { Provider } from '../../providers/provider.ts'
import type { Database } from '../../storage/database.ts'
import type { MessageBus } from '../../storage/bus/message-bus.ts'
import type { Place } from '../../storage/place.ts'
import type { ModelSource, ModelViewer } from '../catalog/catalog.ts'
import type { Caller, Keys } from '../keys/keys.ts'
import type { Ledger } from '../ledger/ledger.ts'
import {
  deploymentIdOf,
  modelIdOf,
  type Deployment,
  type DeploymentEvent,
  type DesiredState,
} from './deployment.ts'
import {
  assessModel,
  previewTier,
  readCacheStatus,
  type Assessment,
  type CacheStatus,
  type ModelQuestion,
  type TierPreview,
} from './models/assess-model.ts'
import type { HubUse } from './models/check-model.ts'
import { createDeployment } from './create-deployment.ts'
import { countInFlight, createDeploymentActivity } from './deployment-activity.ts'
import { CHANGE_TOPIC, createDeploymentDirectory } from './deployment-directory.ts'
import { listEvents } from './deployment-events.ts'
import { createDeploymentProvider, type AcquireEngineSlot } from './deployment-provider.ts'
import { checkHubId, type DeploymentOrder } from './new-deployment.ts'
import { listDeployments, readDeployment, type DeploymentFilter } from './read-deployments.ts'
import { readBill, type DeploymentBill } from './bill/read-bill.ts'
import { requireAllowed } from './not-allowed.ts'
import { requireCredit } from './bill/require-credit.ts'
import { createRequestsInFlight } from './requests-in-flight.ts'
import { DESIRED_STATE_TOPIC } from './reconcile/reconciler.ts'
import { createFollowLogs } from './logs/follow-logs.ts'
import { createLogTails } from './logs/log-tails.ts'
import { createDeploymentMeter, type MeasuredRequest } from './metrics/deployment-meter.ts'
import { readEngine, type EngineReadings } from './metrics/read-engine.ts'
import { createGpuReader } from './metrics/read-gpus.ts'
import { readMetrics, type MetricRange, type MetricSeries } from './metrics/read-metrics.ts'
import { createTierList, type TierSnapshot } from './tiers/tier-list.ts'
import { createWaitForEngine } from './reconcile/wait-for-engine.ts'
import { writeWake, writeDesiredState } from './set-desired-state.ts'
import { createStartTimes, type StartTimes } from './reconcile/start-times.ts'

export { DEPLOYMENT_STATUSES, modelIdOf, type Deployment, type DeploymentEvent } from './deployment.ts'
export type { DeploymentOrder } from './new-deployment.ts'
export { forgetEvents } from './deployment-events.ts'
export { createReconciler, type Reconciler } from './reconcile/reconciler.ts'
export { DEPLOYMENT_TEMPLATES, type DeploymentTemplate } from './models/deployment-templates.ts'
export { CACHE_STATUSES, type Assessment, type CacheStatus, type TierPreview } from './models/assess-model.ts'
export type { HubUse } from './models/check-model.ts'
export type { StartTime } from './reconcile/start-times.ts'
export { createPrefetches, type Prefetches } from './prefetch/prefetches.ts'
export { startPrefetchRunner } from './prefetch/prefetch-runner.ts'
export { PREFETCH_STATUSES, SEALED_PREFETCH_TOKENS, type Prefetch } from './prefetch/prefetch-row.ts'
export type { DeploymentBill } from './bill/read-bill.ts'
export { METRIC_WINDOWS, type MetricPoint, type Percentiles } from './metrics/read-metrics.ts'
export { readTokenOfRun, SEALED_HUB_TOKENS } from './models/hub-tokens.ts'
export { createModelDownloads } from './models/model-downloads.ts'
export { providerKeyOf } from './models/to-catalog-model.ts'

/** Models that accounts run on GPUs, billed by the second. */
export interface Deployments {
  /** Returns the tiers that the caller may use. */
  readTiers(caller: Caller, maxAgeMs?: number): Promise<TierSnapshot>
  /** Reads a model from the hub and checks whether it can be deployed. */
  assess(caller: Caller, question: ModelQuestion): Promise<Assessment>
  preview(
    caller: Caller,
    question: ModelQuestion & { readonly gpuTier: string | null },
  ): Promise<TierPreview & { readonly cacheStatus: CacheStatus }>
  create(caller: Caller, order: DeploymentOrder): Promise<Deployment>
  /** How long starts took lately, by tier. */
  readonly startTimes: StartTimes
  list(place: Place, page: PageRequest, filter: DeploymentFilter): Promise<Page<Deployment>>
  read(place: Place, deploymentId: string): Promise<Deployment>
  /** Changes the desired state without waiting for its effect. Status and events show the progress. */
  setDesiredState(caller: Caller, deploymentId: string, desired: DesiredState): Promise<Deployment>
  listEvents(
    place: Place,
    deploymentId: string,
    page: PageRequest & { readonly sinceMs: number | null },
  ): Promise<Page<DeploymentEvent>>
  readBill(place: Place, deploymentId: string): Promise<DeploymentBill>
  /** Returns throughput and latency, measured in all processes. */
  readMetrics(place: Place, deploymentId: string, range: MetricRange): Promise<DeploymentMetrics>
  /** Counts a finished request if its model is a deployment. */
  noteRequest(modelId: string, request: MeasuredRequest): void
  /** Lists the viewer's deployments that accept requests, awake or not. */
  listServed(viewer: ModelViewer): readonly Deployment[]
  /** Returns the last lines of the engine of the last run; none before the first run. */
  readLogs(place: Place, deploymentId: string, linesMax: number): Promise<readonly string[]>
  /** Returns the last lines and then new ones, as events. Throws if too many logs are followed. */
  followLogs(
    place: Place,
    deploymentId: string,
    request: { readonly linesMax: number; readonly cancellation: Cancellation },
  ): Promise<AsyncIterable<readonly Buffer[]>>
  /** The deployments as catalog models, visible only to their accounts and projects. */
  readonly models: ModelSource
  /** The providers that serve these models, one per driver. */
  readonly providers: readonly Provider[]
  /** Tells every process that a deployment changed. Resolves when they have read it, or after a second. */
  announce(deploymentId: string): Promise<void>
  close(): Promise<void>
}

export interface DeploymentsOptions {
  readonly database: Database
  readonly messageBus: MessageBus
  readonly clock: Clock
  readonly logger: Logger
  readonly gpus: GpuRegistry
  readonly hub: Hub
  /** Returns whether models on a driver's tiers are checked with the hub. */
  readonly hubUseOf: (driverId: string) => HubUse
  /** Returns the model cache that a driver's engines use; null if it is not on this machine. */
  readonly cacheOf: (driverId: string) => Pick<ModelCache, 'measure'> | null
  readonly sealer: Sealer
  /** Whether the account may use the operator's hub token. */
  readonly mayUseHubToken: (accountId: string) => Promise<boolean>
  /** Null if billing is off. */
  readonly ledger: Pick<Ledger, 'hold'> | null
  readonly callerOf: Keys['callerOf']
  /** Returns whether the viewer may use a driver. */
  readonly isOffered: (viewer: ModelViewer, driverId: string) => boolean
  /** Returns the client for an engine. */
  readonly connect: (driverId: string, endpoint: string) => Provider
  readonly acquireSlot: AcquireEngineSlot
  /** Reads the metrics text of an engine; null if it has none or does not answer. */
  readonly scrape: (endpoint: string) => Promise<string | null>
  readonly sliceSeconds: number
  /** How long requests in flight may take to end when their engine stops. */
  readonly drainMs: number
  /** How long a request waits for an engine to start, unless it says otherwise. */
  readonly wakeMsMax: number
}

/** Figures of a deployment over a time window, with the current load. */
export interface DeploymentMetrics extends MetricSeries {
  readonly deploymentId: string
  readonly inFlight: number
  /** Null if the engine reports no metrics. */
  readonly engine: EngineReadings | null
  /** Null if the driver cannot measure it, or no GPU is bound. */
  readonly gpu: GpuSample | null
}

const ANNOUNCE_MS_MAX = 1_000

export async function createDeployments(options: DeploymentsOptions): Promise<Deployments> {
  const { database, messageBus, clock, gpus, logger } = options
  const tiers = createTierList({ gpus, clock })
  const activity = createDeploymentActivity({ database, clock, logger, processId: createId() })
  const inFlight = createRequestsInFlight(options)
  const directory = await createDeploymentDirectory({
    ...options,
    onLeft: (deploymentId) => inFlight.drain(deploymentId),
    beforeConfirm: () => activity.flush(),
  })
  const askEngine = async (deploymentId: string): Promise<EngineReadings | null> => {
    const endpoint = directory.find(deploymentId)?.deployment.endpoint ?? null
    const text = endpoint === null ? null : await options.scrape(endpoint)
    return text === null ? null : readEngine(text)
  }
  const readGpus = createGpuReader({ database, gpus })
  const meter = createDeploymentMeter({ database, clock, logger, readEngine: askEngine, readGpus })
  const tails = createLogTails({ database, gpus, nowMs: () => clock.monotonicMs() })
  const followLogs = createFollowLogs({ tails, find: (id) => directory.find(id)?.deployment })
  const announce = async (deploymentId: string): Promise<void> => {
    await messageBus.publishAndConfirm(CHANGE_TOPIC, deploymentId, { timeoutMs: ANNOUNCE_MS_MAX })
  }
  const announceWish = async (deploymentId: string): Promise<void> => {
    await announce(deploymentId)
    // The desired state is saved. If the message is lost, the reconciler finds it a little later.
    await messageBus.publish(DESIRED_STATE_TOPIC, deploymentId).catch((error: unknown) => {
      logger.warn({ err: error }, 'the reconciler could not be told of a change')
    })
  }
  const waitForEngine = createWaitForEngine({
    directory,
    wake: async ({ id, accountId, keyId: makerId, pricePerHourNanoUsd }, keyId) => {
      // The limits of the key that created the deployment are checked when the run begins.
      if (keyId !== makerId) {
        const caller = await options.callerOf(accountId, keyId)
        await requireCredit(options, caller, { model: modelIdOf(id), pricePerHourNanoUsd })
      }
      if (await writeWake(database, id, clock.nowMs())) await announceWish(id)
    },
    waitMsMax: options.wakeMsMax,
  })
  const offeredTo = (viewer: ModelViewer, { tiers: all, readAtMs }: TierSnapshot): TierSnapshot => ({
    tiers: all.filter(({ driverId }) => options.isOffered(viewer, driverId)),
    readAtMs,
  })
  const read = (place: Place, deploymentId: string) =>
    readDeployment(database, { place, deploymentId, mayBeDeleted: false })

  return {
    startTimes: createStartTimes({ database, clock }),
    readTiers: async (caller, maxAgeMs) => offeredTo(caller, await tiers.read(maxAgeMs)),
    assess: async (caller, question) => {
      checkHubId('huggingface_id', question.huggingfaceId)
      const asOperator = await options.mayUseHubToken(caller.accountId)
      const offered = offeredTo(caller, await tiers.read())
      return assessModel(options.hub, { ...question, asOperator }, offered.tiers)
    },
    preview: async (caller, question) => {
      checkHubId('huggingface_id', question.huggingfaceId)
      const asOperator = await options.mayUseHubToken(caller.accountId)
      const offered = offeredTo(caller, await tiers.read())
      const preview = await previewTier(options.hub, { ...question, asOperator }, offered.tiers)
      const cache = options.cacheOf(preview.tier.driverId)
      const cacheStatus = await readCacheStatus(cache, question.huggingfaceId, preview.model)
      return { ...preview, cacheStatus }
    },
    create: async (caller, order) => {
      const offered = offeredTo(caller, await tiers.read())
      const deployment = await createDeployment(options, { caller, order, tiers: offered.tiers })
      await announceWish(deployment.id)
      return deployment
    },
    list: (place, page, filter) => listDeployments(database, place, page, filter),
    read,
    setDesiredState: async (caller, deploymentId, desired) => {
      requireAllowed(caller, modelIdOf(deploymentId))
      if (desired === 'running') {
        const { pricePerHourNanoUsd } = await read(caller, deploymentId)
        await requireCredit(options, caller, { model: modelIdOf(deploymentId), pricePerHourNanoUsd })
      }
      const change = { place: caller, deploymentId, desired, nowMs: clock.nowMs() }
      const deployment = await writeDesiredState(database, change)
      await announceWish(deploymentId)
      return deployment
    },
    listEvents: async (place, deploymentId, page) => {
      await readDeployment(database, { place, deploymentId, mayBeDeleted: true })
      return listEvents(database, deploymentId, page)
    },
    readBill: async (place, deploymentId) =>
      readBill(database, await read(place, deploymentId), clock.nowMs()),
    readMetrics: async (place, deploymentId, range) => {
      const deployment = await read(place, deploymentId)
      await Promise.all([meter.flush(), activity.flush()])
      const nowMs = clock.nowMs()
      const [series, inFlightNow, engine, sampled] = await Promise.all([
        readMetrics(database, deployment, range, nowMs),
        countInFlight(database, deploymentId, nowMs),
        askEngine(deploymentId),
        readGpus([deploymentId]),
      ])
      const gpu = sampled.get(deploymentId) ?? null
      return { ...series, deploymentId, inFlight: inFlightNow, engine, gpu }
    },
    noteRequest: (modelId, request) => {
      const deploymentId = deploymentIdOf(modelId)
      if (deploymentId !== null) meter.note(deploymentId, request)
    },
    listServed: (viewer) => directory.listServed(viewer),
    readLogs: async (place, deploymentId, linesMax) =>
      (await tails.read(await read(place, deploymentId), linesMax)).lines,
    followLogs: async (place, deploymentId, request) =>
      followLogs({ ...request, deployment: await read(place, deploymentId) }),
    models: directory,
    providers: gpus.drivers.map(({ id }) =>
      createDeploymentProvider({
        id,
        directory,
        activity,
        meter,
        inFlight,
        waitForEngine,
        acquireSlot: options.acquireSlot,
        connect: (endpoint) => options.connect(id, endpoint),
      }),
    ),
    announce,
    close: async () => {
      directory.close()
      await activity.close()
      await meter.close()
    },
  }
}
