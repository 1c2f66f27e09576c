import type { FastifyReply } from 'fastify'
import type { OpenTurn, Turn, TurnEvent } from '../../modules/conversations/conversations.ts'
import { toErrorAnswer } from '../answers/error-envelope.ts'
import type { Exchange } from '../exchange.ts'
import { writeHeadOf } from '../answers/send-event-reply.ts'
import { untilRefused } from '../answers/until-refused.ts'
import { keepAliveUntilBegun } from '../answers/begin-stream.ts'
import { endWithError, EVENT_STREAM_HEADERS, sendEvents } from '../answers/send-events.ts'
import { setGatewayHeaders, setHeaders, type Told } from './gateway-headers.ts'

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
    setHeaders(reply, rateHeaders)
    setGatewayHeaders(reply, exchange, { ...tellOf(open), costNanoUsd })
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
  const stopWaiting = keepAliveUntilBegun({
    response,
    mayBegin: () => true,
    writeHead: () => writeStreamHead(reply, options.rateHeaders),
  })
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
    stopWaiting()
  }
  if (!response.headersSent) {
    setGatewayHeaders(reply, exchange, tellOf(open))
    writeStreamHead(reply, options.rateHeaders)
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
  setHeaders(reply, rateHeaders)
  setHeaders(reply, EVENT_STREAM_HEADERS)
  writeHeadOf(reply)
}

/** What the headers tell of all lanes together. */
function tellOf(open: OpenTurn): Told {
  const records = open.records()
  const namesOf = (names: readonly (string | null)[]) =>
    [...new Set(names.filter((name) => name !== null))].join(', ') || null
  const balances = records.flatMap(({ balanceNanoUsd }) => balanceNanoUsd ?? [])
  return {
    provider: namesOf(records.map(({ provider }) => provider)),
    model: namesOf(records.map(({ model }) => model)),
    costNanoUsd: null,
    balanceNanoUsd: balances.length === 0 ? null : balances.reduce((a, b) => (b < a ? b : a)),
    upstreamMs: Math.max(0, ...records.map((record) => record.upstreamMs)),
  }
}
