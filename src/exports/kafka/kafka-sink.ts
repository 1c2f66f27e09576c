import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Connection, Producer, ProducerOptions } from '@platformatic/kafka'
import type { Cancellation } from '../../kernel/cancellation.ts'
import { ALL_TAKEN, type ExportBatch, type ExportSink } from '../export-sink.ts'

interface KafkaSinkOptions {
  readonly brokers: readonly string[]
  readonly topic: string
  readonly hasTls: boolean
  readonly signIn: {
    readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'
    readonly username: string
    readonly password: string
  } | null
}

const REQUESTS_MAX = 1_000
/** Below the usual limit of brokers for a batch, which is one mebibyte. */
const BYTES_MAX = 512 * 1024
const CONNECT_MS_MAX = 5_000
const REQUEST_MS_MAX = 15_000
const METADATA_MS = 60_000
/** Of the answers to one batch, which take some bytes. A broker that sends more is not read any further. */
const READ_BYTES_MAX = 16 * 1024 * 1024

/**
 * Produces requests to a topic of brokers that speak Kafka's protocol. The account is the key, so that an account has one partition, and
 * all replicas must confirm. The client library is loaded on first use.
 */
export function createKafkaSink({ brokers, topic, hasTls, signIn }: KafkaSinkOptions): ExportSink {
  let opening: Promise<OpenProducer> | null = null
  const close = async (): Promise<void> => {
    const opened = opening
    opening = null
    await opened?.then(
      (producer) => producer.close(),
      () => {},
    )
  }
  const open = (): Promise<OpenProducer> =>
    (opening ??= openProducer({
      clientId: 'parkway',
      bootstrapBrokers: [...brokers],
      connectTimeout: CONNECT_MS_MAX,
      requestTimeout: REQUEST_MS_MAX,
      timeout: REQUEST_MS_MAX,
      // The batch as a whole is sent again, so that requests of an account keep their order.
      retries: false,
      maxInflights: 1,
      metadataMaxAge: METADATA_MS,
      ...(hasTls ? { tls: {}, tlsServerName: true } : {}),
      ...(signIn === null ? {} : { sasl: { ...signIn } }),
    }))
  return {
    requestsMax: REQUESTS_MAX,
    bytesMax: BYTES_MAX,
    collectMs: 0,
    deliver: async (batch, cancellation) => {
      try {
        await produce(await open(), { topic, batch }, cancellation)
        return ALL_TAKEN
      } catch (error) {
        // A connection whose request failed may still answer it.
        await close()
        throw describeError(error)
      }
    },
    close,
  }
}

interface OpenProducer {
  readonly producer: Producer
  /** Called before a batch: what its answers take is limited. */
  forgetRead(): void
  /** Ends its connections at once. */
  close(): Promise<void>
}

async function openProducer(options: ProducerOptions<Buffer, Buffer, Buffer, Buffer>): Promise<OpenProducer> {
  const kafka = await import('@platformatic/kafka')
  const context = {}
  const connections = new Set<Connection>()
  let readBytes = 0
  const watch = (message: unknown): void => {
    const created = connectionOf(message, kafka.Connection)
    if (created?.context === context) {
      connections.add(created)
      created.on('connect', () =>
        created.socket.on('data', (chunk: Buffer) => {
          readBytes += chunk.length
          if (readBytes > READ_BYTES_MAX) created.socket.destroy(new Error('the broker sends too much'))
        }),
      )
      created.on('close', () => connections.delete(created))
    }
  }
  subscribe(INSTANCES, watch)
  const producer = new kafka.Producer({ ...options, context })
  return {
    producer,
    forgetRead: () => {
      readBytes = 0
    },
    close: async () => {
      unsubscribe(INSTANCES, watch)
      for (const { socket } of connections) socket?.destroy()
      await producer.close().catch(() => {})
    },
  }
}

/** The library tells here of each connection that it creates. */
const INSTANCES = 'plt:kafka:instances'

function connectionOf(message: unknown, kind: typeof Connection): Connection | null {
  const isTold = typeof message === 'object' && message !== null && 'instance' in message
  return isTold && message.instance instanceof kind ? message.instance : null
}

interface Order {
  readonly topic: string
  readonly batch: ExportBatch
}

async function produce(
  opened: OpenProducer,
  { topic, batch }: Order,
  cancellation: Cancellation,
): Promise<void> {
  cancellation.throwIfCancelled()
  opened.forgetRead()
  const { promise: cancelled, reject } = Promise.withResolvers<never>()
  cancelled.catch(() => {})
  cancellation.onCancel(reject)
  try {
    await Promise.race([
      cancelled,
      opened.producer.send({
        acks: ALL_REPLICAS,
        messages: batch.items.map(({ request, line }) => ({
          topic,
          key: Buffer.from(request.account_id),
          value: Buffer.from(line),
        })),
      }),
    ])
  } finally {
    cancellation.offCancel(reject)
  }
}

const ALL_REPLICAS = -1

/** The library's errors have their causes in a list. */
function describeError(error: unknown): unknown {
  if (!(error instanceof AggregateError)) return error
  const [first] = error.errors
  return first === undefined ? error : describeError(first)
}
