import type { Logger } from '../../kernel/logger.ts'
import { createTracer, parseOtlpHeaders, type Tracer } from '../../telemetry/tracing.ts'
import type { Config } from '../settings/config.ts'
import { VERSION } from '../version.ts'

/** Builds what sends traces. Null if nobody receives them. */
export async function buildTracer(config: Config, logger: Logger): Promise<Tracer | null> {
  return createTracer({
    endpoint: config.otlpEndpoint ?? undefined,
    headers: parseOtlpHeaders(config.otlpHeaders.join(',')),
    serviceName: config.serviceName,
    resourceAttributes: parseOtlpHeaders(config.resourceAttributes.join(',')),
    sampleRatio: config.traceShare,
    serviceVersion: VERSION,
    logger,
  })
}
