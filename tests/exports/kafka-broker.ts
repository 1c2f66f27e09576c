import { createServer, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import { crc32c } from './crc32c.ts'
import { FrameReader, FrameWriter } from './kafka-frames.ts'

interface ProducedRecord {
  readonly partition: number
  readonly key: string
  readonly value: string
}

/** How the broker answers a batch. `silent` keeps it and never answers, `flood` answers with a frame that does not end. */
type BrokerMood = 'keep' | 'refuse' | 'silent' | 'flood'

export interface KafkaBroker {
  readonly address: string
  readonly records: readonly ProducedRecord[]
  mood: BrokerMood
  /** Refuses connections until it starts again on the same port. */
  stop(): Promise<void>
  start(): Promise<void>
}

const TOPIC_PARTITIONS = 3
const PRODUCE = 0
const METADATA = 3
const API_VERSIONS = 18
/** Of each kind of request: the version that is spoken here. */
const VERSIONS = new Map([
  [PRODUCE, 7],
  [METADATA, 5],
  [API_VERSIONS, 3],
])
const UNSUPPORTED_VERSION = 35
const CORRUPT_MESSAGE = 2
const NOT_ENOUGH_REPLICAS = 19

/** A broker that speaks Kafka's protocol: https://kafka.apache.org/protocol. It has every topic that it is asked for. */
export async function startKafkaBroker(): Promise<KafkaBroker> {
  const records: ProducedRecord[] = []
  const sockets = new Set<Socket>()
  let server: Server | null = null
  let port = 0
  const broker = {
    records,
    mood: 'keep' as BrokerMood,
    get address() {
      return `127.0.0.1:${port}`
    },
    stop: async () => {
      const stopped = server
      server = null
      if (stopped === null) return
      for (const socket of sockets) socket.destroy()
      stopped.close()
      await once(stopped, 'close')
    },
    start: async () => {
      server = createServer((socket) => {
        sockets.add(socket)
        socket.on('close', () => sockets.delete(socket)).on('error', () => {})
        readFrames(socket, (frame) => answer(socket, frame))
      })
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      const bound = server.address()
      if (bound !== null && typeof bound === 'object') port = bound.port
    },
  }

  function answer(socket: Socket, frame: Buffer): void {
    const request = new FrameReader(frame)
    const api = request.int16()
    const version = request.int16()
    const correlation = request.int32()
    request.text()
    const reply = new FrameWriter().int32(correlation)
    if (api === API_VERSIONS) describeVersions(reply, version)
    else if (version !== VERSIONS.get(api)) socket.destroy(new Error(`version ${version} of ${api}`))
    else if (api === METADATA) describeTopics(reply, request, port)
    else if (!produce(socket, reply, request)) return
    socket.write(reply.frame())
  }

  /** Returns false if nothing is answered. */
  function produce(socket: Socket, reply: FrameWriter, request: FrameReader): boolean {
    request.text()
    if (request.int16() !== -1) throw new Error('not all replicas are asked for')
    request.int32()
    const error = { refuse: NOT_ENOUGH_REPLICAS, keep: 0, silent: 0, flood: 0 }[broker.mood]
    reply.array(
      request.array(() => ({ topic: request.text(), parts: request.array(() => readPart(request)) })),
      (topic) => {
        reply.text(topic.topic).array(topic.parts, ({ partition, batch }) => {
          const isSound = batch !== null
          if (error === 0 && batch !== null)
            records.push(...batch.map((record) => ({ partition, ...record })))
          reply
            .int32(partition)
            .int16(isSound ? error : CORRUPT_MESSAGE)
            .int64(0n)
            .int64(-1n)
            .int64(0n)
        })
      },
    )
    reply.int32(0)
    if (broker.mood === 'flood') flood(socket)
    return broker.mood === 'keep' || broker.mood === 'refuse'
  }

  await broker.start()
  return broker
}

/** Announces two gigabytes and sends them as fast as they are taken. */
function flood(socket: Socket): void {
  const head = Buffer.alloc(4)
  head.writeInt32BE(2_000_000_000)
  socket.write(head)
  const piece = Buffer.alloc(1024 * 1024)
  const send = (): void => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once('drain', send)
  }
  send()
}

function readFrames(socket: Socket, take: (frame: Buffer) => void): void {
  let held = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk])
    while (held.length >= 4 && held.length >= 4 + held.readInt32BE(0)) {
      const length = held.readInt32BE(0)
      take(held.subarray(4, 4 + length))
      held = held.subarray(4 + length)
    }
  })
}

function describeVersions(reply: FrameWriter, version: number): void {
  const isKnown = version === VERSIONS.get(API_VERSIONS)
  const known = [...VERSIONS]
  if (!isKnown) {
    // An unknown version is answered in the form of the first one.
    reply
      .int16(UNSUPPORTED_VERSION)
      .array(known, ([api, spoken]) => reply.int16(api).int16(spoken).int16(spoken))
    return
  }
  reply.int16(0).byte(known.length + 1)
  for (const [api, spoken] of known) reply.int16(api).int16(spoken).int16(spoken).byte(0)
  reply.int32(0).byte(0)
}

function describeTopics(reply: FrameWriter, request: FrameReader, port: number): void {
  const topics = request.array(() => request.text())
  reply
    .int32(0)
    .array([0], (node) => reply.int32(node).text('127.0.0.1').int32(port).int16(-1))
    .text('cluster')
    .int32(0)
    .array(topics, (topic) =>
      reply
        .int16(0)
        .text(topic)
        .byte(0)
        .array([...Array.from({ length: TOPIC_PARTITIONS }).keys()], (partition) =>
          reply
            .int16(0)
            .int32(partition)
            .int32(0)
            .array([0], (node) => reply.int32(node))
            .array([0], (node) => reply.int32(node))
            .array([], () => {}),
        ),
    )
}

interface ReadPart {
  readonly partition: number
  /** Null if its checksum is wrong. */
  readonly batch: { readonly key: string; readonly value: string }[] | null
}

/** Reads a record batch of version 2. */
function readPart(request: FrameReader): ReadPart {
  const partition = request.int32()
  const batch = new FrameReader(request.bytes(request.int32()))
  batch.int64()
  const rest = new FrameReader(batch.bytes(batch.int32()))
  rest.int32()
  if (rest.byte() !== 2) throw new Error('not a record batch of version 2')
  const checksum = rest.int32() >>> 0
  if (crc32c(rest.rest()) !== checksum) return { partition, batch: null }
  // Attributes, last offset, times, producer, epoch and sequence.
  rest.bytes(2 + 4 + 8 + 8 + 8 + 2 + 4)
  return { partition, batch: rest.array(() => readRecord(new FrameReader(rest.bytes(rest.varint())))) }
}

function readRecord(record: FrameReader): { key: string; value: string } {
  record.byte()
  record.varint()
  record.varint()
  const key = record.bytes(record.varint()).toString()
  return { key, value: record.bytes(record.varint()).toString() }
}
