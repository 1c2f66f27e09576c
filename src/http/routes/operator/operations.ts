import { Type } from 'typebox'
import type { Logger } from '../../../kernel/logger.ts'
import { admitToMetrics, type MetricsAccess } from '../../admit-to-metrics.ts'
import type { ConsoleSite } from '../../console-site/console-site.ts'
import { docsRoutes } from '../../docs-page/docs-routes.ts'
import { rootRoute } from '../../docs-page/root-route.ts'
import type { JsonObject } from '../../reference/openapi-schemas.ts'
import { checkReadiness, type ReadinessCheck } from '../../check-readiness.ts'
import { NO_KEY } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

export interface OperationRoutesOptions {
  /** Readiness checks by name. Each rejects if its dependency fails. */
  readonly checks: Readonly<Record<string, ReadinessCheck>>
  readonly isShuttingDown: () => boolean
  /** What is wrong without keeping the gateway from serving. Anybody may read it. */
  readonly listWarnings: () => readonly string[]
  /** Returns the metrics of this process or of all processes, in a format that the scraper accepts. */
  readonly readMetrics: (accept: string) => Promise<{ contentType: string; text: string }>
  readonly metricsAccess: MetricsAccess
  /** Called once, on the first request for the document, when all routes are registered. */
  readonly buildDocument: () => JsonObject
  readonly logger: Logger
  /** Null if this process serves no console. */
  readonly consoleSite: ConsoleSite | null
}

const Health = Type.Object({ status: Type.Literal('ok', { description: 'Whether the process runs.' }) })

const Readiness = Type.Object({
  status: Type.Enum(['ok', 'unavailable', 'shutting_down'], {
    description: 'Whether the gateway takes requests.',
  }),
  checks: Type.Record(
    Type.String(),
    Type.Object({
      status: Type.Enum(['ok', 'failed', 'timed_out'], { description: 'How the check ended.' }),
      duration_ms: Type.Number({ description: 'How long it took, in milliseconds.' }),
    }),
    { description: 'What was checked, by name.' },
  ),
  warnings: Type.Array(Type.String(), {
    description:
      'What is wrong without keeping the gateway from serving. It names no one and nothing in particular.',
  }),
})

/** Routes for operators and their monitoring, outside `/v1` and without an API key. */
export function operationRoutes(options: OperationRoutesOptions): Route[] {
  const { isShuttingDown, readMetrics, metricsAccess } = options
  const readiness = checkReadiness({ checks: options.checks, logger: options.logger })
  let document: string | null = null
  const shared = { method: 'GET', tag: 'Operations', access: NO_KEY } as const

  return [
    defineRoute({
      ...shared,
      path: '/healthz',
      summary: 'Whether the process is alive',
      responses: { 200: { description: 'It is. Nothing else was looked at.', schema: Health } },
      handle: async () => ({ status: 'ok' }),
    }),
    defineRoute({
      ...shared,
      path: '/readyz',
      summary: 'Whether the process can serve',
      responses: {
        200: { description: 'Everything it needs works.', schema: Readiness },
        503: { description: 'Something it needs does not work, or it is shutting down.', schema: Readiness },
      },
      handle: async ({ reply }) => {
        reply.header('cache-control', 'no-store')
        const { isReady, checks } = isShuttingDown() ? { isReady: false, checks: {} } : await readiness()
        const warnings = options.listWarnings()
        if (isReady) return { status: 'ok', checks, warnings }
        reply.code(503)
        return { status: isShuttingDown() ? 'shutting_down' : 'unavailable', checks, warnings }
      },
    }),
    defineRoute({
      ...shared,
      path: '/metrics',
      summary: 'Metrics for Prometheus',
      responses: {
        200: { description: 'The Prometheus text format.', schema: Type.String(), contentType: 'text/plain' },
      },
      handle: async (request) => {
        await admitToMetrics(metricsAccess, request.reply.request.raw)
        const { contentType, text } = await readMetrics(String(request.headers['accept'] ?? ''))
        request.reply.header('cache-control', 'no-store').type(contentType).send(text)
      },
    }),
    defineRoute({
      ...shared,
      path: '/openapi.json',
      summary: 'This description',
      responses: { 200: { description: 'OpenAPI 3.1.', schema: Type.Record(Type.String(), Type.Unknown()) } },
      handle: async ({ reply }) => {
        document ??= JSON.stringify(options.buildDocument())
        reply.type('application/json; charset=utf-8').send(document)
      },
    }),
    rootRoute(options),
    ...docsRoutes(),
  ]
}
