import { systemClock, type Clock } from '../../kernel/clock.ts'
import { countTokens } from '../../kernel/tokens/count-tokens.ts'
import { createAccounts, type Accounts } from '../../modules/accounts/accounts.ts'
import { createAudit, type Audit } from '../../modules/audit/audit.ts'
import { createCatalog, type Catalog } from '../../modules/catalog/catalog.ts'
import { createChat, type Chat } from '../../modules/chat/chat.ts'
import type { AskChat, Compare, Datasets } from '../../modules/compare/compare.ts'
import type { Conversations } from '../../modules/conversations/conversations.ts'
import type { Generation } from '../../modules/generation/generation.ts'
import { createIdempotency, type Idempotency } from '../../modules/idempotency/idempotency.ts'
import { createSandboxPolicy, type Inference, type MayUseSandbox } from '../../modules/inference/inference.ts'
import type { Judging } from '../../modules/judging/judging.ts'
import { createKeys, type Keys } from '../../modules/keys/keys.ts'
import { createLedger, freeCredit, type Ledger } from '../../modules/ledger/ledger.ts'
import {
  createUnauthenticatedThrottle,
  type Limits,
  type UnauthenticatedThrottle,
} from '../../modules/limits/limits.ts'
import type { Media } from '../../modules/media/media.ts'
import type { Offer } from '../../modules/offer/offer.ts'
import { createWebhookSecrets, type TaskPerformer, type Tasks } from '../../modules/tasks/tasks.ts'
import type { Responses } from '../../modules/responses/responses.ts'
import { createSpeech, type Speech } from '../../modules/speech/speech.ts'
import { createTranscription, type Transcription } from '../../modules/transcription/transcription.ts'
import { createOutbound, type Outbound } from '../../outbound/outbound.ts'
import type { ProviderRegistry } from '../../providers/registry.ts'
import { createBorrower } from '../../storage/borrowing/borrower.ts'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import { createDatabaseClock } from '../../storage/database-clock.ts'
import type { Database } from '../../storage/database.ts'
import { createMessageBus, type MessageBus } from '../../storage/bus/message-bus.ts'
import type { Installation } from '../../storage/installation.ts'
import type { ReplicaReads } from '../../storage/replica/replica-reads.ts'
import { reportOutages } from '../../storage/connection/report-outages.ts'
import { startFoldingStoredBytes } from '../../storage/stored-bytes/fold-stored-bytes.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Tracer } from '../../telemetry/tracing.ts'
import { buildBatches, type BuiltBatches } from './build-batches.ts'
import { findFilesIn, findUseOfFile } from './find-files-in.ts'
import { createFiles, type Files } from '../../modules/files/files.ts'
import { buildBilling, type BuiltBilling } from './build-billing.ts'
import { buildCompare } from './build-compare.ts'
import { buildDeployments, type BuiltDeployments } from './build-deployments.ts'
import { buildGeneration } from './build-generation.ts'
import { buildInference, upstreamTimeouts } from './build-inference.ts'
import { buildLimits } from './build-limits.ts'
import { buildMedia, buildStore } from './build-media.ts'
import { buildMetrics } from './build-metrics.ts'
import { buildOffer, hasProviders, servesRealModels } from './build-offer.ts'
import { buildReplicaReads } from './build-replica-reads.ts'
import { buildResponses, performByType } from './build-responses.ts'
import { findUnknownModelIn } from './find-unknown-model.ts'
import { openInstallation } from './open-installation.ts'
import { buildTasks, RECLAIMERS } from './build-tasks.ts'
import { buildTracer } from './build-tracer.ts'
import { buildUsage, type BuiltUsage } from './build-usage.ts'
import { buildWholeAnswers, type BuiltWholeAnswers } from './build-whole-answers.ts'
import type { Config } from '../settings/config.ts'
import { ownUrlOf } from '../settings/own-url.ts'
import { createShortageWatch, type ShortageWatch } from '../process/shortage-watch.ts'

export interface Modules extends BuiltBatches, BuiltBilling, BuiltDeployments, BuiltUsage, BuiltWholeAnswers {
  /** The database's time. */
  readonly clock: Clock
  readonly database: Database
  readonly installation: Installation
  readonly pool: Pick<ReturnType<typeof connectDatabase>, 'poolState' | 'shares'>
  readonly reads: ReplicaReads
  readonly messageBus: MessageBus
  readonly keys: Keys
  readonly accounts: Accounts
  readonly files: Files
  readonly ledger: Ledger
  readonly audit: Audit
  readonly catalog: Catalog
  readonly providers: ProviderRegistry
  readonly offer: Offer
  readonly mayUseSandbox: MayUseSandbox
  readonly metrics: Metrics
  readonly tracer: Tracer | null
  readonly limits: Limits
  readonly unauthenticatedThrottle: UnauthenticatedThrottle
  readonly idempotency: Idempotency
  readonly outbound: Outbound
  readonly media: Media
  readonly tasks: Tasks
  readonly webhookSecrets: ReturnType<typeof createWebhookSecrets>
  /** Performs the work of tasks. */
  readonly performer: TaskPerformer
  readonly inference: Inference
  readonly shortages: ShortageWatch
  readonly chat: Chat
  readonly responses: Responses
  readonly compare: Compare
  readonly datasets: Datasets
  readonly conversations: Conversations
  readonly judging: Judging
  /** Makes a chat call that no client waits for. */
  readonly ask: AskChat
  readonly generation: Generation
  readonly speech: Speech
  readonly transcription: Transcription
  /** May be called only after all requests have ended. */
  close(): Promise<void>
}

interface BuildOptions {
  readonly config: Config
  readonly connectionString: string
  readonly logger: GatewayLogger
  readonly machineClock?: Clock | undefined
  readonly catalogSource?: unknown
  /** The URL of this gateway, final once it listens. */
  readonly ownUrl?: () => string
}

/** Builds all modules below HTTP, each with only the dependencies it uses. */
export async function buildModules(options: BuildOptions): Promise<Modules> {
  const opened = new AsyncDisposableStack()
  try {
    return await openModules(options, opened)
  } catch (error) {
    await opened.disposeAsync()
    throw error
  }
}

/** Opens the modules. They are closed in reverse order, so that none is closed while another one needs it. */
async function openModules(
  {
    config,
    connectionString,
    logger,
    machineClock = systemClock,
    catalogSource,
    ownUrl = () => ownUrlOf(config),
  }: BuildOptions,
  opened: AsyncDisposableStack,
): Promise<Modules> {
  const catalog = createCatalog({
    source: catalogSource,
    overrideFile: config.catalogFile,
    log: logger,
    isConfigured: (providerId) => providers.get(providerId)?.isConfigured === true,
    // All processes have the same time, so that they change prices in the same moment.
    now: () => clock.nowMs(),
  })
  opened.defer(() => catalog.close())
  const pool = connectDatabase({
    connectionString,
    poolSize: config.databasePoolSize,
    statementTimeoutMs: config.statementTimeoutMs,
    connectTimeoutMs: config.databaseConnectTimeoutMs,
    prepareStatements: config.prepareStatements,
    logger,
  })
  opened.defer(() => pool.close())
  const database = reportOutages(pool, { logger })
  const { installation, sealer } = await openInstallation(config, database, logger)
  const messageBus = await createMessageBus({ connectionString, logger })
  opened.defer(() => messageBus.close())
  const clock = await createDatabaseClock({ database, clock: machineClock, logger })
  opened.defer(() => clock.close())
  const keys = createKeys({ database, clock, messageBus, findUnknownModel: findUnknownModelIn(catalog) })
  opened.defer(() => keys.close())
  const metrics = buildMetrics(catalog)
  const { leaseMs } = config
  const borrower = await createBorrower({ database, logger, leaseMs, reclaimers: RECLAIMERS })
  opened.defer(() => borrower.close())
  const ledger = createLedger({
    database,
    messageBus,
    borrower,
    clock,
    logger,
    commitWaitMs: config.commitWaitMs,
    observer: metrics.ledger,
  })
  opened.defer(() => ledger.close())
  const reads = buildReplicaReads(config, { primary: database, clock, ledger, logger })
  opened.defer(() => reads.close())
  const outbound = createOutbound({ allowedHosts: config.outboundAllow })
  opened.defer(() => outbound.close())
  const limits = await buildLimits(config, { database, messageBus, borrower, ledger, metrics, logger })
  opened.defer(() => limits.close())
  const { providers, offer } = await buildOffer(
    config,
    { database, messageBus, clock, logger, sealer, catalog, limits },
    opened,
  )
  const sellsCredit = { servesRealModels: servesRealModels(config, offer), installation }
  const billed = buildBilling(config, { database, clock, ledger, outbound, logger, ...sellsCredit }, opened)
  const folding = startFoldingStoredBytes({ database, logger })
  opened.defer(() => folding.close())
  const { quotaOf } = limits
  const idempotency = createIdempotency({ database, logger, quotaOf })
  opened.defer(() => idempotency.close())
  const { strangers } = config.limits
  const unauthenticatedThrottle = createUnauthenticatedThrottle({ limits: strangers, messageBus })
  opened.defer(() => unauthenticatedThrottle.close())
  const tracer = await buildTracer(config, logger)
  opened.defer(() => tracer?.shutdown())
  const filed = { database, outbound, clock, machineClock, logger, ownUrl, quotaOf, installation }
  const store = buildStore(config, { ...filed, metrics: metrics.media })
  const media = await buildMedia(config, { ...filed, store })
  opened.defer(() => media.close())
  const webhookSecrets = createWebhookSecrets({ database, sealer })
  const tasks = buildTasks(config, {
    database,
    webhookSecrets,
    clock,
    messageBus,
    media,
    logger,
    ledger,
    catalog,
    providers,
    outbound,
    writer: borrower.writer,
    quotaOf,
  })
  opened.defer(() => tasks.close())
  const mayUseSandbox = createSandboxPolicy({
    audience: config.sandbox,
    hasProviders: () => hasProviders(config, offer),
  })
  const stored = { database, messageBus, clock, logger, ledger, keys, sealer }
  const served = { catalog, providers, mayUseSandbox, limits }
  const built = await buildDeployments(config, { ...stored, ...served, outbound })
  opened.defer(() => built.close())
  const credit = config.billing ? ledger : freeCredit
  const shortages = createShortageWatch({ clock, logger })
  const recorded = { ...stored, connectionString, catalog, metrics, installation, reads }
  const used = await buildUsage(config, recorded, opened)
  const inference = buildInference(config, {
    ...served,
    ...used,
    deployments: built.deployments,
    metrics,
    shortages,
    clock,
    logger,
    tracer,
  })
  const files = createFiles({ database, store, clock, quotaOf, findUse: findUseOfFile, logger })
  const findFile = findFilesIn(files)
  const chat = createChat({ inference, ledger: credit, media, findFile, clock, countTokens })
  const asked = { ...filed, messageBus, inference, chat }
  const responses = buildResponses(config, { ...asked, tasks, keys, limits })
  const makers = { inference, catalog, providers, ledger: credit, keys, tasks, media, findFile, clock }
  const generation = buildGeneration(config, makers)
  const whole = buildWholeAnswers(makers)
  const batched = buildBatches(config, { ...asked, ...whole, files, responses, providers, generation })
  return {
    clock,
    database,
    installation,
    pool,
    messageBus,
    keys,
    accounts: createAccounts({ database, clock, keys, credit: ledger }),
    ledger,
    audit: createAudit({ database, clock }),
    ...billed,
    catalog,
    providers,
    offer,
    mayUseSandbox,
    metrics,
    tracer,
    reads,
    idempotency,
    limits,
    unauthenticatedThrottle,
    outbound,
    media,
    tasks,
    webhookSecrets,
    performer: performByType(responses.performer, generation.performer),
    ...built,
    inference,
    shortages,
    chat,
    responses,
    ...buildCompare(config, { ...asked, catalog, limits, batches: batched.batches }),
    generation,
    speech: createSpeech({ inference, catalog, ledger: credit, clock, timeouts: upstreamTimeouts(config) }),
    transcription: createTranscription({ inference, ledger: credit }),
    ...whole,
    files,
    ...batched,
    ...used,
    close: () => opened.disposeAsync(),
  }
}
