import { systemClock } from '../kernel/clock.ts'
import { countTokens } from '../kernel/count-tokens.ts'
import { nanoUsdFromUsd } from '../kernel/money.ts'
import { createSendInference } from '../http/send-inference.ts'
import { createServer, type Server } from '../http/server.ts'
import type { Route } from '../http/route.ts'
import { adminAccountRoutes } from '../http/routes/admin-accounts.ts'
import { apiKeyRoutes } from '../http/routes/api-keys.ts'
import { chatRoutes } from '../http/routes/chat.ts'
import { modelRoutes } from '../http/routes/models.ts'
import { tenantRoutes } from '../http/routes/tenant.ts'
import { createAccounts, type Accounts } from '../modules/accounts/accounts.ts'
import { createCatalog, type Catalog } from '../modules/catalog/catalog.ts'
import { createChat, type Chat } from '../modules/chat/chat.ts'
import { createKeys, type Keys } from '../modules/keys/keys.ts'
import { createRequestRate } from '../modules/limits/request-rate.ts'
import { createProviderRegistry, type ProviderRegistry } from '../providers/registry.ts'
import { createSandboxProvider } from '../providers/sandbox/sandbox.ts'
import { connectDatabase } from '../storage/connect-database.ts'
import type { Database } from '../storage/database.ts'
import { createMessageBus } from '../storage/message-bus.ts'
import type { GatewayLogger } from '../telemetry/logger.ts'
import { createMetrics, type Exposition, type Metrics } from '../telemetry/metrics.ts'
import type { Config } from './config.ts'
import { createExchangeReporter } from './report-exchange.ts'

export interface Gateway {
  readonly url: string
  /** The key of the first account, when this start created it. */
  readonly bootstrapKey: string | null
  readonly metrics: Metrics
  close(): Promise<void>
}

interface ComposeOptions {
  readonly config: Config
  readonly connectionString: string
  readonly logger: GatewayLogger
  /** Other processes listen on the same port. */
  readonly sharePort?: boolean
  /** The metrics of all processes, where there are several. */
  readonly expositionOfAll?: () => Promise<Exposition>
}

/** Builds the gateway of one process from its parts and starts it. The only place where they meet. */
export async function composeGateway(options: ComposeOptions): Promise<Gateway> {
  const { config, connectionString, logger } = options
  const clock = systemClock
  const database = connectDatabase({
    connectionString,
    poolSize: config.databasePoolSize,
    statementTimeoutMs: config.statementTimeoutMs,
    logger,
  })
  const messageBus = await createMessageBus({ connectionString, logger })
  const keys = createKeys({ database, clock, messageBus })
  const accounts = createAccounts({ database, clock, keys })
  const bootstrap = await accounts.bootstrapFirstAccount({
    creditNanoUsd: nanoUsdFromUsd(config.bootstrapCreditUsd),
    ...(config.bootstrapKey === null ? {} : { key: config.bootstrapKey }),
  })
  const catalog = createCatalog({ overrideFile: config.catalogFile, log: logger })
  const providers = createProviderRegistry({
    settings: config.providers,
    sandbox: createSandboxProvider({ paceTokensPerSecond: config.sandboxTokensPerSecond }),
    clock,
    connectTimeoutMs: config.upstreamConnectTimeoutMs,
  })
  const metrics = createMetrics({ isKnownModel: (model) => catalog.resolve(model) !== undefined })
  const chat = createChat({
    catalog,
    providers,
    clock,
    countTokens,
    timeouts: {
      connectMs: config.upstreamConnectTimeoutMs,
      firstByteMs: config.upstreamFirstByteTimeoutMs,
      idleMs: config.upstreamIdleTimeoutMs,
    },
    streamDurationMsMax: config.streamDurationMsMax,
    observer: {
      attempted: ({ provider, outcome, status }) =>
        metrics.upstreamAttempted({
          provider,
          outcome: outcome === 'answered' ? 'ok' : outcome,
          ...(status === null ? {} : { status }),
        }),
      breakerChanged: (provider, state) => metrics.breakerChanged({ provider, state }),
    },
  })

  const routes = buildRoutes({ accounts, keys, catalog, providers, chat, logger })
  const server = await createServer({
    routes,
    authenticate: (token) => keys.authenticate(token),
    logger,
    observer: {
      started: (route) => metrics.requestStarted(route),
      finished: createExchangeReporter({ metrics, logger }),
    },
    plugins: [],
    bodyBytesMax: config.bodyBytesMax,
    requestMsMax: config.requestTimeoutMs,
    trustedProxies: config.trustedProxies,
  })
  const address = await server.listen({
    host: config.host,
    port: config.port,
    sharePort: options.sharePort ?? false,
  })

  return {
    url: `http://${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`,
    bootstrapKey: bootstrap.created ? bootstrap.token : null,
    metrics,
    close: () => closeInOrder({ config, server, catalog, providers, keys, messageBus, database }),
  }
}

interface Modules {
  readonly accounts: Accounts
  readonly keys: Keys
  readonly catalog: Catalog
  readonly providers: ProviderRegistry
  readonly chat: Chat
  readonly logger: GatewayLogger
}

function buildRoutes({ accounts, keys, catalog, providers, chat, logger }: Modules): Route[] {
  const sendInference = createSendInference({
    balanceOf: (accountId) => accounts.balanceNanoUsd(accountId),
    requestRate: createRequestRate({ clock: systemClock }),
    onStreamError: (error, requestId) =>
      logger.warn({ err: error, requestId }, 'a stream failed in the middle'),
  })
  return [
    ...modelRoutes({
      catalog,
      isProviderConfigured: (provider) => providers.get(provider)?.isConfigured === true,
      isSandboxEnvironment: (environment) => environment === 'dev' || environment === 'test',
    }),
    ...chatRoutes({ chat, sendInference }),
    ...tenantRoutes({ accounts }),
    ...apiKeyRoutes({ keys }),
    ...adminAccountRoutes({ accounts, keys }),
  ]
}

interface Running {
  readonly config: Config
  readonly server: Server
  readonly catalog: Catalog
  readonly providers: ProviderRegistry
  readonly keys: Keys
  readonly messageBus: { close(): Promise<void> }
  readonly database: Database
}

// Requests first, then what they use, storage last: nothing is closed while something above still needs it.
async function closeInOrder({
  config,
  server,
  catalog,
  providers,
  keys,
  messageBus,
  database,
}: Running): Promise<void> {
  await server.close({ graceMs: config.shutdownGraceMs })
  catalog.close()
  await providers.close()
  await keys.close()
  await messageBus.close()
  await database.close()
}
