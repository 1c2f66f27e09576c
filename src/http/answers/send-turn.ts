import type { FastifyReply } from 'fastify'
import { formatUsd } from '../../kernel/money.ts'
import type { OpenTurn, Turn, TurnEvent } from '../../modules/conversations/conversations.ts'
import { toErrorAnswer } from './error-envelope.ts'
import type { Exchange } from '../exchange.ts'
import { writeHeadOf } from './send-event-reply.ts'
import { untilRefused } from './until-refused.ts'
import {
  endWithError,
  EVENT_STREAM_HEADERS,
  FIRST_KEEP_ALIVE_MS,
  sendEvents,
  startKeepAlive,
} from './send-events.ts'

interface SendTurnOptions {
  readonly exchange: Exchange
  readonly reply: FastifyReply
  /** Alternating names and values, filled while lanes are admitted. */
  readonly rateHeaders: readonly string[]
}

/** Reads a turn to its end and sets the headers of a paid answer. */
export async function readTurn(
  opening: Promise<OpenTurn>,
  { exchange, reply, rateHeaders }: SendTurnOptions,
): Promise<Turn> {
  return untilRefused(exchange, readToEnd(opening, { exchange, reply, rateHeaders }))
}

async function readToEnd(
  opening: Promise<OpenTurn>,
  { exchange, reply, rateHeaders }: SendTurnOptions,
): Promise<Turn> {
  const open = await opening
  for await (const event of open.events) {
    if (event.kind !== 'ended') continue
    const costNanoUsd = event.turn.replies.reduce((sum, cell) => sum + cell.costNanoUsd, 0n)
    reply.header('x-gateway-cost-usd', formatUsd(costNanoUsd))
    setTurnHeaders(reply, exchange, open, rateHeaders)
    return event.turn
  }
  throw new Error('a turn ended without its end')
}

/** Streams the answers of all lanes. Each frame has the id of its lane, and a failed lane is one error frame. */
export async function sendTurn(
  opening: Promise<OpenTurn>,
  options: SendTurnOptions & {
    readonly toWire: (turn: Turn) => unknown
    readonly onError: (error: unknown) => void
  },
): Promise<void> {
  const { exchange, reply, toWire, onError } = options
  const requestId = exchange.id
  const response = reply.raw
  // Models may think for minutes, so start the stream before a proxy times out.
  let stopKeepAlive: () => void = () => {}
  const timer = setTimeout(() => {
    writeStreamHead(reply, options.rateHeaders)
    stopKeepAlive = startKeepAlive(response)
  }, FIRST_KEEP_ALIVE_MS)
  let open: OpenTurn
  try {
    open = await untilRefused(exchange, opening)
  } catch (error) {
    if (exchange.isRefused) void readUnread(opening)
    if (!response.headersSent) throw error
    onError(error)
    endWithError(response, error, requestId)
    return
  } finally {
    clearTimeout(timer)
    stopKeepAlive()
  }
  if (!response.headersSent) {
    setTurnHeaders(reply, exchange, open, options.rateHeaders)
    writeStreamHead(reply, [])
  }
  await sendEvents(response, toFrames(open.events, toWire, onError), {
    requestId,
    onError,
    exchange,
  })
}

/** Reads a turn whose client left before it began, to learn what its lanes cost. Never rejects. */
async function readUnread(opening: Promise<OpenTurn>): Promise<void> {
  try {
    const { events } = await opening
    for await (const _ of events);
  } catch {
    // Every lane has reported its own failure.
  }
}

async function* toFrames(
  events: AsyncIterable<TurnEvent>,
  toWire: (turn: Turn) => unknown,
  onError: (error: unknown) => void,
): AsyncGenerator<readonly Buffer[], void> {
  for await (const event of events) {
    if (event.kind === 'chunks') yield tagChunks(event.laneId, event.payloads)
    else if (event.kind === 'ended') yield [Buffer.from(JSON.stringify(toWire(event.turn)))]
    else {
      onError(event.error)
      const { body } = toErrorAnswer(event.error, event.requestId)
      yield [Buffer.from(JSON.stringify({ lane_id: event.laneId, ...body }))]
    }
  }
}

/** Inserts the lane id before the first member of a chunk, which is always an object. */
function tagChunks(laneId: string, payloads: readonly Buffer[]): Buffer[] {
  const tag = Buffer.from(`{"lane_id":"${laneId}",`)
  return payloads.map((payload) => Buffer.concat([tag, payload.subarray(1)]))
}

function writeStreamHead(reply: FastifyReply, rateHeaders: readonly string[]): void {
  setPairs(reply, rateHeaders)
  setPairs(reply, EVENT_STREAM_HEADERS)
  writeHeadOf(reply)
}

function setTurnHeaders(
  reply: FastifyReply,
  exchange: Exchange,
  open: OpenTurn,
  rateHeaders: readonly string[],
): void {
  setPairs(reply, rateHeaders)
  const records = open.records()
  const providers = new Set(records.flatMap(({ provider }) => provider ?? []))
  if (providers.size > 0) reply.header('x-gateway-provider', [...providers].join(', '))
  const models = new Set(records.flatMap(({ model }) => model ?? []))
  if (models.size > 0) reply.header('x-gateway-model', [...models].join(', '))
  const balances = records.flatMap(({ balanceNanoUsd }) => balanceNanoUsd ?? [])
  const lowest = balances.reduce((least, balance) => (balance < least ? balance : least), balances[0] ?? 0n)
  if (balances.length > 0) reply.header('x-gateway-balance-usd', formatUsd(lowest))
  const upstreamMs = Math.max(0, ...records.map((record) => record.upstreamMs))
  const inGatewayMs = performance.now() - exchange.startedMs - upstreamMs
  reply.header('x-gateway-latency-ms', Math.max(0, inGatewayMs).toFixed(1))
}

function setPairs(reply: FastifyReply, pairs: readonly string[]): void {
  for (let index = 0; index + 1 < pairs.length; index += 2) reply.header(pairs[index] ?? '', pairs[index + 1])
}
