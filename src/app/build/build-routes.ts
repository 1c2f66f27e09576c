import { readToken } from '../../http/authenticate.ts'
import { buildScimRoutes } from './build-scim-routes.ts'
import { buildBillingRoutes } from './build-billing-routes.ts'
import { buildOpenApi } from '../../http/reference/openapi.ts'
import type { ConsoleSite } from '../../http/console-site/console-site.ts'
import type { HotRoute, Route } from '../../http/route.ts'
import { apiKeyRoutes } from '../../http/routes/account/api-keys.ts'
import { batchRoutes } from '../../http/routes/batches/batches.ts'
import { budgetAlertRoutes } from '../../http/routes/account/budget-alerts.ts'
import { chatRoutes } from '../../http/routes/text/chat.ts'
import { compareDatasetRoutes } from '../../http/routes/compare/compare-datasets.ts'
import { compareRunRoutes } from '../../http/routes/compare/compare-runs.ts'
import { compareConversationRoutes } from '../../http/routes/compare/compare-conversations.ts'
import { compareLeaderboardRoutes } from '../../http/routes/compare/compare-leaderboard.ts'
import { compareStreamRoutes } from '../../http/routes/compare/compare-stream.ts'
import { compareVoteRoutes } from '../../http/routes/compare/compare-votes.ts'
import { deploymentChatRoutes } from '../../http/routes/deployments/deployment-chat.ts'
import { deploymentLogRoutes } from '../../http/routes/deployments/deployment-logs.ts'
import { deploymentMetricRoutes } from '../../http/routes/deployments/deployment-metrics.ts'
import { deploymentRoutes } from '../../http/routes/deployments/deployments.ts'
import { prefetchRoutes } from '../../http/routes/deployments/prefetch.ts'
import { hubModelRoutes } from '../../http/routes/deployments/hub-models.ts'
import { gpuTierRoutes } from '../../http/routes/deployments/gpu-tiers.ts'
import { embeddingRoutes } from '../../http/routes/text/embeddings.ts'
import { fileRoutes } from '../../http/routes/files/files.ts'
import { uploadRoutes } from '../../http/routes/files/uploads.ts'
import { imageRoutes } from '../../http/routes/media/images.ts'
import { mediaRoutes } from '../../http/routes/media/media.ts'
import { modelRoutes } from '../../http/routes/text/models.ts'
import { messageBatchRoutes } from '../../http/routes/batches/message-batches.ts'
import { messageRoutes } from '../../http/routes/text/messages.ts'
import { moderationRoutes } from '../../http/routes/text/moderations.ts'
import { musicRoutes } from '../../http/routes/media/music.ts'
import { operationRoutes } from '../../http/routes/operator/operations.ts'
import { permissionRoutes } from '../../http/routes/account/permissions.ts'
import { queueRoutes } from '../../http/routes/tasks/queue.ts'
import { rerankRoutes } from '../../http/routes/text/rerank.ts'
import { taskRetryRoutes } from '../../http/routes/tasks/task-retry.ts'
import { taskRoutes } from '../../http/routes/tasks/tasks.ts'
import { requestLogRoutes } from '../../http/routes/account/request-log.ts'
import { conversationRoutes } from '../../http/routes/text/conversations.ts'
import { responseRoutes } from '../../http/routes/text/responses.ts'
import { storedResponseRoutes } from '../../http/routes/text/stored-responses.ts'
import { speechRoutes } from '../../http/routes/media/speech.ts'
import { tenantRoutes } from '../../http/routes/account/tenant.ts'
import { transcriptionRoutes } from '../../http/routes/media/transcriptions.ts'
import { usageLatencyRoutes } from '../../http/routes/account/usage-latency.ts'
import { usageRoutes } from '../../http/routes/account/usage.ts'
import { videoRoutes } from '../../http/routes/media/videos.ts'
import { voiceRoutes } from '../../http/routes/media/voices.ts'
import { createDeliverLink } from '../../http/routes/organization/deliver-link.ts'
import { createRunGeneration } from '../../http/paid/run-generation.ts'
import { createRunPaid } from '../../http/paid/run-paid.ts'
import { createSendInference } from '../../http/paid/send-inference.ts'
import type { UnauthenticatedGuard } from '../../http/connections/guard-unauthenticated.ts'
import type { Directory } from '../../modules/directory/directory.ts'
import type { Groups } from '../../modules/groups/groups.ts'
import type { People } from '../../modules/people/people.ts'
import type { Roles } from '../../modules/roles/roles.ts'
import type { Projects } from '../../modules/projects/projects.ts'
import type { Sessions } from '../../modules/sessions/sessions.ts'
import type { Ledger } from '../../modules/ledger/ledger.ts'
import type { MessageBus } from '../../storage/bus/message-bus.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import type { Exposition } from '../../telemetry/metrics.ts'
import { buildStoredTextRoutes } from './build-stored-text-routes.ts'
import { buildGrantRoutes } from './build-grant-routes.ts'
import { buildAgentRoutes, buildTrust } from './build-agent-routes.ts'
import { buildDirectoryRoutes } from './build-directory-routes.ts'
import { buildOrganizationRoutes } from './build-organization-routes.ts'
import { buildSignInRoutes, type SignInParts } from './build-sign-in-routes.ts'
import { findPromptSources } from './build-compare.ts'
import { listLocalModels, listOwnModels } from './build-limits.ts'
import type { Modules } from './build-modules.ts'
import { hasProviders, listWarnings } from './build-offer.ts'
import { buildOfferRoutes } from './offer-routes.ts'
import { buildOperatorRoutes } from './build-operator-routes.ts'
import type { Overview } from './build-overview.ts'
import type { Config } from '../settings/config.ts'
import { VERSION } from '../version.ts'

interface BuildRoutesOptions {
  readonly config: Config
  readonly modules: Modules
  readonly sessions: Sessions
  readonly people: People
  readonly signIn: SignInParts
  readonly projects: Projects
  readonly groups: Groups
  readonly roles: Roles
  readonly directory: Directory
  readonly consoleSite: ConsoleSite | null
  readonly overview: Overview
  readonly guard: Pick<UnauthenticatedGuard, 'authenticateKey' | 'countSignIn' | 'addressOf' | 'admitVisitor'>
  readonly logger: GatewayLogger
  readonly isShuttingDown: () => boolean
  readonly isWorkerRunning: () => boolean
  readonly readMetrics: (accept: string) => Promise<Exposition>
}

/** Builds the complete route table. */
export function buildRoutes(options: BuildRoutesOptions): (Route | HotRoute)[] {
  const { config, modules, logger } = options
  const { accounts, keys, catalog, providers, chat, audit, usage } = modules
  const { people, signIn, projects, groups, roles, directory } = options
  const onStreamError = (error: unknown, requestId: string): void =>
    logger.warn({ err: error, requestId }, 'a stream failed in the middle')
  const sendInference = createSendInference({ limits: modules.limits, onStreamError })
  const runPaid = createRunPaid({ limits: modules.limits })
  const { generation } = modules
  const runGeneration = createRunGeneration({ generation, runPaid, imageWait: config.imageWait })
  const trust = buildTrust(modules)
  const routes: (Route | HotRoute)[] = [
    ...modelRoutes({
      catalog,
      isProviderConfigured: (provider) => providers.get(provider)?.isConfigured === true,
      mayUseSandbox: modules.mayUseSandbox,
    }),
    ...chatRoutes({ chat, sendInference }),
    ...responseRoutes({ responses: modules.responses, limits: modules.limits, sendInference }),
    ...storedResponseRoutes({ responses: modules.responses }),
    ...conversationRoutes({ responses: modules.responses }),
    ...messageRoutes({ chat, limits: modules.limits, sendInference }),
    ...embeddingRoutes({ embeddings: modules.embeddings, sendInference }),
    ...rerankRoutes({ rerank: modules.rerank, sendInference }),
    ...moderationRoutes({ moderation: modules.moderation, sendInference }),
    ...mediaRoutes({
      media: modules.media,
      clock: modules.clock,
      onBroken: (error, requestId) => logger.warn({ err: error, requestId }, 'a file could not be read'),
    }),
    ...batchRoutes({ batches: modules.batches }),
    ...messageBatchRoutes({ batches: modules.batches, publicUrl: config.publicUrl, logger }),
    ...uploadRoutes({ uploads: modules.files.uploads }),
    ...fileRoutes({
      files: modules.files,
      onBroken: (error, requestId) => logger.warn({ err: error, requestId }, 'a file could not be read'),
    }),
    ...imageRoutes({ runGeneration }),
    ...videoRoutes({ generation, runGeneration }),
    ...musicRoutes({ generation, runGeneration }),
    ...speechRoutes({ speech: modules.speech, runPaid, runGeneration, onStreamError }),
    ...transcriptionRoutes({ transcription: modules.transcription, runPaid }),
    ...voiceRoutes({ speech: modules.speech }),
    ...compareRunRoutes({
      compare: modules.compare,
      judging: modules.judging,
      sources: findPromptSources(modules),
      onBroken: (error, requestId) => logger.warn({ err: error, requestId }, 'an export broke off'),
    }),
    ...compareStreamRoutes({ compare: modules.compare, judging: modules.judging }),
    ...compareDatasetRoutes({ datasets: modules.datasets, sources: modules }),
    ...compareVoteRoutes({ judging: modules.judging, compare: modules.compare }),
    ...compareLeaderboardRoutes({ judging: modules.judging }),
    ...compareConversationRoutes({
      conversations: modules.conversations,
      limits: modules.limits,
      onStreamError,
    }),
    ...gpuTierRoutes({ deployments: modules.deployments, clock: modules.clock }),
    ...hubModelRoutes({ deployments: modules.deployments }),
    ...prefetchRoutes({ prefetches: modules.prefetches }),
    ...deploymentRoutes({ deployments: modules.deployments, publicUrl: config.publicUrl }),
    ...deploymentMetricRoutes({ deployments: modules.deployments }),
    ...deploymentLogRoutes({ deployments: modules.deployments }),
    ...deploymentChatRoutes({ deployments: modules.deployments, chat, sendInference }),
    ...tenantRoutes({
      accounts,
      limits: modules.limits,
      sessions: options.sessions,
      people,
      projects,
      mayUseSandbox: modules.mayUseSandbox,
      gateway: {
        version: VERSION,
        publicUrl: config.publicUrl,
        hasBilling: config.billing,
        hasProviders: () => hasProviders(config, modules.offer),
        hasDeployments: config.gpuDriver.length > 0,
      },
    }),
    ...permissionRoutes,
    ...taskRoutes({ tasks: modules.tasks }),
    ...taskRetryRoutes({ generation, runGeneration }),
    ...queueRoutes({
      limits: modules.limits,
      tasks: modules.tasks,
      listModels: (caller) => [
        ...listLocalModels(config, modules),
        ...listOwnModels(config, modules, caller),
      ],
      deployments: modules.deployments,
      clock: modules.clock,
    }),
    ...apiKeyRoutes({ keys, usage }),
    ...buildSignInRoutes({
      signIn,
      sessions: options.sessions,
      accounts,
      people,
      projects,
      guard: options.guard,
    }),
    ...buildDirectoryRoutes({
      directory,
      sessions: options.sessions,
      audit,
      guard: options.guard,
      publicUrl: config.publicUrl,
    }),
    ...buildGrantRoutes({ modules, trust, guard: options.guard, publicUrl: config.publicUrl }),
    ...buildAgentRoutes({ config, modules, trust, isShuttingDown: options.isShuttingDown }),
    ...buildOrganizationRoutes({
      modules,
      people,
      projects,
      groups,
      roles,
      deliverLink: createDeliverLink(signIn),
      logger,
    }),
    ...buildScimRoutes({ modules, guard: options.guard, publicUrl: config.publicUrl }),
    ...usageRoutes(modules),
    ...budgetAlertRoutes({ budgetAlerts: modules.budgetAlerts }),
    ...usageLatencyRoutes({ usage, clock: modules.clock }),
    ...requestLogRoutes({ ...modules, logger }),
    ...buildStoredTextRoutes(config, modules),
    ...buildBillingRoutes({ modules, config, logger }),
    ...buildOperatorRoutes({ config, modules, people, overview: options.overview, runPaid, logger }),
    ...buildOfferRoutes({ modules, providers: options.overview.providers }),
    ...operationRoutes({
      checks: {
        storage: () => modules.database.ping(),
        messages: () => requireConnected(modules.messageBus),
        ledger: () => requireHealthy(modules.ledger),
        media: () => modules.media.checkStore(),
        resources: () => modules.shortages.requireEnough(),
        ...(config.role !== 'api' &&
          !modules.installation.isPaused && { worker: () => requireRunning(options.isWorkerRunning()) }),
      },
      isShuttingDown: options.isShuttingDown,
      listWarnings: () => listWarnings(modules.offer),
      readMetrics: options.readMetrics,
      metricsAccess: {
        token: config.metricsToken,
        isOpen: config.metricsOpen,
        authenticate: ({ headers }) => keys.authenticate(readToken(headers)),
      },
      // Called when the table is complete, so that the document describes all of it.
      buildDocument: () =>
        buildOpenApi(routes, {
          version: VERSION,
          ...(config.publicUrl ? { serverUrl: config.publicUrl } : {}),
        }),
      logger,
      consoleSite: options.consoleSite,
    }),
  ]
  // A worker process serves only the routes for monitoring.
  return config.role === 'worker' ? routes.filter(({ tag }) => tag === 'Operations') : routes
}

async function requireConnected(messageBus: MessageBus): Promise<void> {
  if (!messageBus.isConnected()) throw new Error('the message bus is not connected')
}

async function requireRunning(isRunning: boolean): Promise<void> {
  if (!isRunning) throw new Error('the worker is not running')
}

async function requireHealthy(ledger: Ledger): Promise<void> {
  if (!ledger.isHealthy()) throw new Error('charges cannot be written')
}
