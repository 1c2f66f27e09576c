import type { Borrower } from '../../storage/borrowing/borrower.ts'
import { openSink } from '../../exports/open-sink.ts'
import { createExporter, type Exporter, type OpenedSink } from '../../modules/exports/exports.ts'
import type { SecretReferences } from '../../modules/offer/offer.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import { parseOtlpHeaders } from '../../telemetry/tracing.ts'
import { VERSION } from '../version.ts'
import type { Config } from '../settings/config.ts'
import type { Modules } from './build-modules.ts'
import { buildSecretReferences } from './build-secret-references.ts'

interface ExporterParts {
  readonly modules: Modules
  readonly borrower: Borrower
  readonly logger: GatewayLogger
}

/** Builds what sends requests to the sinks of the settings, for a process with a worker. Null without any. */
export function buildExporter(config: Config, { modules, borrower, logger }: ExporterParts): Exporter | null {
  const sinks = Object.entries(config.exports)
  if (sinks.length === 0) return null
  const { database, outbound, metrics } = modules
  const readSecret = createSecretReader(buildSecretReferences(config))
  const resource = {
    serviceName: config.serviceName,
    serviceVersion: VERSION,
    attributes: parseOtlpHeaders(config.resourceAttributes.join(',')),
  }
  return createExporter({
    database,
    borrower,
    counts: metrics.exports,
    logger,
    sinks: new Map(
      sinks.map(([name, settings]) => [
        name,
        async (): Promise<OpenedSink> => ({
          sink: await openSink(name, settings, { outbound, readSecret, resource }),
          wanted: settings.requests ?? 'all',
        }),
      ]),
    ),
  })
}

const REFERENCE = /^(?:env|file|vault|aws-sm):/

/** A secret may be a reference, like those of providers. It is read again each time. */
function createSecretReader(references: SecretReferences): (text: string) => Promise<string> {
  return async (text) => {
    if (!REFERENCE.test(text)) return text
    references.refresh()
    await references.load([text])
    const { secret, problem } = references.read(text)
    if (secret === null) throw new Error(`the secret ${text} cannot be read: ${problem}`)
    return secret
  }
}
