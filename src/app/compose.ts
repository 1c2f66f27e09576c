import { tmpdir } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { resolve } from 'node:path'
import { createConsoleSite } from '../http/console-site/console-site.ts'
import { createClientAddress } from '../http/connections/client-address.ts'
import { createUnauthenticatedGuard } from '../http/connections/guard-unauthenticated.ts'
import { isOfOwnPage } from '../http/session-cookie.ts'
import { confirmationRequired } from '../http/routes/account/confirm-methods.ts'
import { createDirectory } from '../modules/directory/directory.ts'
import { createGroups } from '../modules/groups/groups.ts'
import { createRoles } from '../modules/roles/roles.ts'
import { createPasskeys } from '../modules/passkeys/passkeys.ts'
import { createLinkMails, createPeople } from '../modules/people/people.ts'
import { createProjects } from '../modules/projects/projects.ts'
import { createSessions, createSignInCode } from '../modules/sessions/sessions.ts'
import { endRefusedRequests } from '../http/connections/end-refused-requests.ts'
import { createServer, type OverloadOptions } from '../http/server.ts'
import { createMailer } from '../mail/mailer.ts'
import type { Clock } from '../kernel/clock.ts'
import { nanoUsdFromUsd } from '../kernel/money.ts'
import type { Database } from '../storage/database.ts'
import type { GatewayLogger } from '../telemetry/logger.ts'
import type { Exposition, Metrics } from '../telemetry/metrics.ts'
import { acceptsOpenMetrics } from '../telemetry/open-metrics.ts'
import { startStallWatchdog } from '../telemetry/stall-watchdog.ts'
import { findSignInProviders } from './build/build-directory-routes.ts'
import { buildModules } from './build/build-modules.ts'
import { buildOverview } from './build/build-overview.ts'
import { buildRoutes } from './build/build-routes.ts'
import { buildWorker } from './build/build-worker.ts'
import type { Worker } from '../worker/worker.ts'
import type { Config } from './settings/config.ts'
import { roomForBodies } from './process/room-for-bodies.ts'
import { roomForConnections, roomForRefused } from './process/connection-room.ts'
import { exampleModel } from './build/example-model.ts'
import { ownUrlOf } from './settings/own-url.ts'
import type { FirstKey, ReadyGateway } from './process/process-messages.ts'
import { createOverloadReporter } from './report/report-overload.ts'
import { createExchangeReporter } from './report/report-exchange.ts'
import { createDatabaseStateReader } from './report/read-database-state.ts'
import { watchCertificates } from './report/watch-certificates.ts'

export interface Gateway extends ReadyGateway {
  readonly metrics: Metrics
  close(): Promise<void>
}

interface ComposeOptions {
  readonly config: Config
  readonly connectionString: string
  readonly logger: GatewayLogger
  /** The clock of this machine. Stored times use the database's clock. */
  readonly machineClock?: Clock | undefined
  /** The built-in models, for tests that outlast them. */
  readonly catalogSource?: unknown
  /** Whether other processes listen on the same port. */
  readonly sharePort?: boolean
  /** Replaces the measurement of overload, for tests. */
  readonly overload?: Partial<Pick<OverloadOptions, 'unitsMin' | 'measureTurns'>>
  /** Called as soon as the first account and its key are stored, because the rest of the start may fail. */
  readonly onFirstKey?: (key: FirstKey) => void
  /** Returns the metrics of all processes, if there are several. */
  readonly expositionOfAll?: () => Promise<Exposition>
}

/** Requests that run or began in the last second. A process that is too slow for so few has another problem than overload. */
const OVERLOAD_UNITS_MIN = 256

const CONSOLE_DIRECTORY = resolve(import.meta.dirname, '../../console/dist')

/** Tasks that take longer are continued by another worker. */
const WORKER_GRACE_MS = 5_000

/** Builds the gateway of one process from its parts and starts it. Only here the parts are combined. */
export async function composeGateway(options: ComposeOptions): Promise<Gateway> {
  const { config, logger } = options
  // Preload while the storage is opened.
  if (config.role !== 'api') void import('../worker/worker.ts')
  let url = ownUrlOf(config)
  const modules = await buildModules({ ...options, ownUrl: () => url })
  // A failed start must close what it opened, because otherwise the process would keep running.
  const begun = new AsyncDisposableStack()
  begun.defer(() => modules.close())
  try {
    const { keys, accounts, metrics } = modules
    const clientAddressOf = createClientAddress(config.trustedProxies)
    let isShuttingDown = false
    let worker: Worker | null = null
    const sessions = createSessions({ database: modules.database, keys })
    const { database, clock } = modules
    const people = createPeople({ database, clock, keys, sessions })
    const passkeys = createPasskeys({ database, sessions, people })
    const mailer =
      config.smtpUrl === null ? null : createMailer({ url: config.smtpUrl, from: config.smtpFrom })
    begun.defer(() => mailer?.close())
    const mails = createLinkMails({ database, mailer, logger })
    const { sealer } = modules
    const directory = createDirectory({ database, clock, keys, sessions, accounts, sealer, logger })
    const listSignInProviders = () => findSignInProviders(directory)
    const signIn = { passkeys, mails, publicUrl: config.publicUrl, listSignInProviders }
    const projects = createProjects({ database, clock, keys, catalog: modules.catalog })
    const groups = createGroups({ database, clock, keys })
    const roles = createRoles({ database, clock, keys })
    const guard = createUnauthenticatedGuard({
      throttle: modules.unauthenticatedThrottle,
      authenticate: (token, connection) => keys.authenticate(token, connection),
      authenticateSession: (token) => sessions.authenticate(token),
      isOfOwnPage: ({ headers }) => isOfOwnPage(headers, config.publicUrl),
      isKnownKey: (token) => keys.isKnown(token),
      addressOf: clientAddressOf,
      onRefused: () => metrics.limits.refused('address'),
      confirmationRequired: (caller, headers) => confirmationRequired(caller, headers, signIn),
    })
    const consoleSite =
      config.role === 'worker'
        ? null
        : createConsoleSite({
            directory: config.consoleDir ?? CONSOLE_DIRECTORY,
            publicUrl: config.publicUrl,
          })
    const overview = buildOverview(config, {
      modules,
      isWorkerRunning: () => worker?.isRunning() === true,
      isShuttingDown: () => isShuttingDown,
    })
    begun.defer(() => overview.close())
    const certificates = watchCertificates({ public_url: config.publicUrl })
    begun.defer(() => certificates.close())
    metrics.state.readFrom({
      readProcess: () => ({
        pool: modules.pool.poolState,
        replica: modules.reads.state,
        isWorkerRunning: worker?.isRunning() === true,
      }),
      readDatabase: createDatabaseStateReader(database),
      readCertificates: () => certificates.ends,
    })
    const reportExchange = createExchangeReporter({
      metrics,
      logger,
      tracer: modules.tracer,
      deployments: modules.deployments,
      vendors: modules.usage.vendors,
      requestLog: modules.requestLog,
      storedBodies: modules.storedBodies,
      clientAddressOf,
    })
    const server = await createServer({
      consoleSite,
      routes: buildRoutes({
        config,
        modules,
        sessions,
        people,
        signIn,
        projects,
        groups,
        roles,
        directory,
        consoleSite,
        overview,
        guard,
        logger,
        isShuttingDown: () => isShuttingDown,
        isWorkerRunning: () => worker?.isRunning() === true,
        readMetrics:
          options.expositionOfAll ??
          // Without traces there is nothing that only the other format has.
          ((accept) =>
            metrics.exposition(
              modules.tracer !== null && acceptsOpenMetrics(accept) ? 'openmetrics' : 'text',
            )),
      }),
      guard,
      limits: modules.limits,
      idempotency: modules.idempotency,
      media: modules.media,
      logger,
      clock: modules.clock,
      observer: {
        started: (route) => {
          metrics.requestStarted(route)
          modules.interactiveLoad.started(route)
        },
        finished: (finished) => {
          modules.interactiveLoad.finished(finished.exchange.route)
          reportExchange(finished)
        },
      },
      corsOrigins: config.corsOrigins,
      bodyBytesMax: config.bodyBytesMax,
      bodiesInWorkBytesMax: roomForBodies(config.bodyBytesMax),
      runForAccount: (accountId, work) => modules.pool.shares.runFor(accountId, work),
      readOld: (accountId, note, work) => modules.reads.run(accountId, note, work),
      uploadDirectory: tmpdir(),
      connectionsMax: roomForConnections(config.connectionsMax),
      refusedMax: roomForRefused(),
      unauthenticatedBytesMax: config.unauthenticatedBytesMax,
      isKnownKey: (token) => keys.isKnown(token),
      onConnectionRefused: () => metrics.limits.refused('connections'),
      overload: {
        turnMsMax: config.overloadTurnMs,
        unitsMin: OVERLOAD_UNITS_MIN,
        observer: createOverloadReporter({ metrics, logger }),
        ...options.overload,
      },
      isFast: config.fastHttp,
      requestMsMax: config.requestTimeoutMs,
      keepsBodies: config.logPrompts,
      capturedBytesOf: ({ accountId, keyId, isZeroRetention }) =>
        isZeroRetention === true ? null : modules.storedBodies.capturedBytesOf(accountId, keyId),
    })
    begun.defer(() => server.close({ graceMs: 0 }))
    const { host, port } = await server.listen({
      host: config.host,
      port: config.port,
      sharePort: options.sharePort ?? false,
    })
    url = ownUrlOf({ host, port })
    const stopWatching = startStallWatchdog({
      metrics: metrics.stalls,
      logger,
      listRequests: () => server.listExchanges(),
    })
    begun.defer(stopWatching)
    // Only after the port is bound, so that a start that fails there creates no key; and before requests are served, which would be
    // refused for an unknown key.
    const bootstrap = await accounts.bootstrapFirstAccount({
      creditNanoUsd: nanoUsdFromUsd(config.bootstrapCreditUsd),
      ...(config.bootstrapKey === null ? {} : { key: config.bootstrapKey }),
    })
    // Not for a key that the operator chose, who can sign in with it: what is printed often ends up in logs.
    const signInCode =
      bootstrap.created && config.bootstrapKey === null && config.role !== 'worker'
        ? await createFirstCode(modules.database, logger)
        : null
    if (bootstrap.created) options.onFirstKey?.({ bootstrapKey: bootstrap.token, signInCode })
    const refusals = endRefusedRequests({ server, keys, sessions, clock: modules.clock })
    begun.defer(() => refusals.close())
    if (config.role !== 'api' && !modules.installation.isPaused)
      worker = await buildWorker(config, { ...options, modules })
    server.open()
    return {
      url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
      bootstrapKey: bootstrap.created ? bootstrap.token : null,
      signInCode,
      exampleModel: exampleModel(modules.catalog, (id) => modules.providers.get(id)?.isConfigured === true),
      metrics,
      close: async () => {
        isShuttingDown = true
        refusals.close()
        // Give load balancers time to notice before connections are refused.
        if (config.shutdownDelayMs > 0) await delay(config.shutdownDelayMs)
        const { drains } = modules.inference
        const graceEndsMs = performance.now() + config.shutdownGraceMs
        await Promise.all([
          server.close({ graceMs: config.shutdownGraceMs, beforeAborting: () => drains.stop() }),
          worker?.close({ graceMs: Math.min(config.shutdownGraceMs, WORKER_GRACE_MS) }),
        ])
        await drains.close(Math.max(0, graceEndsMs - performance.now()))
        stopWatching()
        overview.close()
        await certificates.close()
        mailer?.close()
        await modules.close()
      },
    }
  } catch (error) {
    await begun.disposeAsync()
    throw error
  }
}

/** Returns null if that fails: the start goes on, because otherwise the first key would be lost. */
async function createFirstCode(database: Database, logger: GatewayLogger): Promise<string | null> {
  return createSignInCode(database).catch((error: unknown) => {
    logger.warn({ err: error }, 'no sign-in link could be made')
    return null
  })
}
