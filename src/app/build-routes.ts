import { buildOpenApi } from '../http/openapi.ts'
import type { DirectRoute, Route } from '../http/route.ts'
import { adminAccountRoutes } from '../http/routes/admin-accounts.ts'
import { apiKeyRoutes } from '../http/routes/api-keys.ts'
import { chatRoutes } from '../http/routes/chat.ts'
import { modelRoutes } from '../http/routes/models.ts'
import { operationRoutes } from '../http/routes/operations.ts'
import { tenantRoutes } from '../http/routes/tenant.ts'
import { createSendInference } from '../http/send-inference.ts'
import { isSandboxEnvironment } from '../modules/chat/chat.ts'
import type { MessageBus } from '../storage/message-bus.ts'
import type { GatewayLogger } from '../telemetry/logger.ts'
import type { Exposition } from '../telemetry/metrics.ts'
import type { Modules } from './build-modules.ts'
import type { Config } from './config.ts'
import { VERSION } from './version.ts'

interface BuildRoutesOptions {
  readonly config: Config
  readonly modules: Modules
  readonly logger: GatewayLogger
  readonly isShuttingDown: () => boolean
  readonly readMetrics: () => Promise<Exposition>
}

/** The whole route table. */
export function buildRoutes(options: BuildRoutesOptions): (Route | DirectRoute)[] {
  const { config, modules, logger } = options
  const { accounts, keys, catalog, providers, chat } = modules
  const sendInference = createSendInference({
    balanceOf: (accountId) => accounts.balanceNanoUsd(accountId),
    limits: modules.limits,
    tracer: modules.tracer,
    onStreamError: (error, requestId) =>
      logger.warn({ err: error, requestId }, 'a stream failed in the middle'),
  })
  const routes: (Route | DirectRoute)[] = [
    ...modelRoutes({
      catalog,
      isProviderConfigured: (provider) => providers.get(provider)?.isConfigured === true,
      isSandboxEnvironment,
    }),
    ...chatRoutes({ chat, sendInference }),
    ...tenantRoutes({ accounts }),
    ...apiKeyRoutes({ keys }),
    ...adminAccountRoutes({ accounts, keys }),
    ...operationRoutes({
      checks: {
        storage: () => modules.database.ping(),
        messages: () => requireConnected(modules.messageBus),
      },
      isShuttingDown: options.isShuttingDown,
      readMetrics: options.readMetrics,
      metricsToken: config.metricsToken,
      // Called when the table is complete, so that the document describes all of it.
      buildDocument: () =>
        buildOpenApi(routes, {
          version: VERSION,
          ...(config.publicUrl ? { serverUrl: config.publicUrl } : {}),
        }),
      logger,
    }),
  ]
  return routes
}

async function requireConnected(messageBus: MessageBus): Promise<void> {
  if (!messageBus.isConnected()) throw new Error('the message bus is not connected')
}
