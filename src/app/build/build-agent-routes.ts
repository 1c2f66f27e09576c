import type { Route } from '../../http/route.ts'
import { ownSettingsRoutes } from '../../http/routes/agents/own-settings.ts'
import { agentTelemetryRoutes } from '../../http/routes/organization/agent-telemetry.ts'
import { telemetryRoutes } from '../../http/routes/agents/telemetry.ts'
import { managedSettingsRoutes } from '../../http/routes/organization/managed-settings.ts'
import { createAgentTelemetry } from '../../modules/agent-telemetry/agent-telemetry.ts'
import { createTrust, type Trust } from '../../modules/trust/trust.ts'
import { trustedIssuerRoutes } from '../../http/routes/organization/trusted-issuers.ts'
import { createManagedSettings } from '../../modules/managed-settings/managed-settings.ts'
import { parseOtlpHeaders } from '../../telemetry/tracing.ts'
import type { Config } from '../settings/config.ts'
import type { Modules } from './build-modules.ts'

interface AgentParts {
  readonly config: Config
  readonly modules: Modules
  readonly trust: Trust
  readonly isShuttingDown: () => boolean
}

export function buildTrust(modules: Modules): Trust {
  return createTrust({ ...modules, count: (outcome) => modules.metrics.agents.exchanged(outcome) })
}

/** The routes of agents such as Claude Code, and of those who set what agents may do. */
export function buildAgentRoutes({ config, modules, trust, isShuttingDown }: AgentParts): Route[] {
  const { database, clock, keys, outbound, metrics, exportCounts } = modules
  const managedSettings = createManagedSettings({ database, clock, keys })
  const telemetry = createAgentTelemetry({
    outbound,
    collector:
      config.agentOtlpEndpoint === null
        ? null
        : { url: config.agentOtlpEndpoint, headers: parseOtlpHeaders(config.agentOtlpHeaders.join(',')) },
    isClosing: isShuttingDown,
    count: (signal, outcome) => metrics.agents.exported(signal, outcome),
    exportCounts,
  })
  return [
    ...managedSettingsRoutes({ managedSettings }),
    ...trustedIssuerRoutes({ trust }),
    ...ownSettingsRoutes({ managedSettings }),
    ...telemetryRoutes({ telemetry }),
    ...agentTelemetryRoutes({ exportCounts }),
  ]
}
