import type { Outbound } from '../outbound/outbound.ts'
import type { ExportSink } from './export-sink.ts'
import type { SinkSettings } from './export-settings.ts'
import { createKafkaSink } from './kafka/kafka-sink.ts'
import type { LogResource } from './otlp/describe-logs.ts'
import { createOtlpSink } from './otlp/otlp-sink.ts'
import { createS3Sink } from './s3/s3-sink.ts'
import { createWebhookSink } from './webhook/webhook-sink.ts'

interface SinkParts {
  readonly outbound: Pick<Outbound, 'fetch'>
  /** Returns the secret that the text stands for. Throws if it cannot be read now. */
  readonly readSecret: (text: string) => Promise<string>
  readonly resource: LogResource
}

const COLLECT_SECONDS = 60

/** Opens a sink of the settings. Nothing is sent before the first batch. */
export async function openSink(
  name: string,
  settings: SinkSettings,
  { outbound, readSecret, resource }: SinkParts,
): Promise<ExportSink> {
  if (settings.kind === 's3') {
    const { url, format = 'jsonl', collect_seconds: seconds = COLLECT_SECONDS } = settings
    const { access_key_id: id, secret_access_key: secret } = settings
    const credentials =
      id === undefined || secret === undefined
        ? null
        : { accessKeyId: await readSecret(id), secretAccessKey: await readSecret(secret) }
    return createS3Sink({ url, credentials, format, collectMs: seconds * 1_000 })
  }
  if (settings.kind === 'otlp') {
    const headers: Record<string, string> = {}
    for (const [header, value] of Object.entries(settings.headers ?? {}))
      headers[header.toLowerCase()] = await readSecret(value)
    return createOtlpSink({ outbound, url: settings.url, headers, resource })
  }
  if (settings.kind === 'webhook') {
    const { url, secret } = settings
    return createWebhookSink({ outbound, name, url, secret: await readSecret(secret) })
  }
  const { brokers, topic, tls = false, mechanism = 'PLAIN', username, password } = settings
  const signIn =
    username === undefined || password === undefined
      ? null
      : { mechanism, username: await readSecret(username), password: await readSecret(password) }
  return createKafkaSink({ brokers, topic, hasTls: tls, signIn })
}
