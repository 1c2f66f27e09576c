import { createHash } from 'node:crypto'
import { invalidValue } from '../../kernel/app-error.ts'
import { Cancellation } from '../../kernel/cancellation.ts'
import { ClientDisconnected } from '../../kernel/client-disconnected.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { ChatMessage } from '../../wires/openai-chat/chat-request.ts'
import { mergeStreams } from '../../providers/streams/merge-streams.ts'
import type { Database } from '../../storage/database.ts'
import { checkMessages, type Chat } from '../chat/chat.ts'
import type { Inference, InferenceRecord } from '../inference/inference.ts'
import type { Caller } from '../keys/keys.ts'
import { LaneCall, type AdmitChat, type LaneEvent } from './ask-lane.ts'
import type { ConversationLane, Turn } from './conversation.ts'
import { abandonTurn, beginTurn, finishTurn, keepHeld, type BegunTurn } from './hold-turn.ts'
import { LaneTurns } from './lane-turns.ts'
import { laneHistory } from './lane-history.ts'

export interface TurnOrder {
  readonly caller: Caller
  readonly conversationId: string
  readonly messages: readonly ChatMessage[]
  /** Null for all lanes. */
  readonly laneIds: readonly string[] | null
  /** The request ids of the lanes are derived from this id. A retry with the same id is not charged twice. */
  readonly requestId: string
  readonly cancellation: Cancellation
  readonly admit: AdmitChat
}

/** A turn that is being answered. At least one lane has sent its first chunk. */
export interface OpenTurn {
  /**
   * The events of all lanes, and last the complete turn, which is stored by then. The caller must read it to the end, or close it
   * after the first read.
   */
  readonly events: AsyncGenerator<TurnEvent, void>
  /** The records of the lanes' calls that have been admitted so far. */
  records(): readonly InferenceRecord[]
}

export type TurnEvent = LaneEvent | { readonly kind: 'ended'; readonly turn: Turn }

interface TakeTurnOptions {
  readonly database: Database
  readonly chat: Pick<Chat, 'chat'>
  readonly clock: Clock
  readonly inference: Pick<Inference, 'unattended'>
}

/** Resolves with the first chunk of any lane. If no lane sends a chunk, throws the error of the first lane and stores nothing. */
export async function takeTurn(options: TakeTurnOptions, order: TurnOrder): Promise<OpenTurn> {
  const { database, clock } = options
  const { caller: place, conversationId, messages } = order
  checkMessages(messages)
  const begun = await beginTurn(database, { place, conversationId, messages, nowMs: clock.nowMs() })
  const stopHolding = keepHeld(database, begun)
  const abandon = async (): Promise<void> => {
    stopHolding()
    await abandonTurn(database, begun)
  }
  try {
    const { calls, stop } = callLanes(options, order, begun)
    const events = mergeStreams(
      calls.map((call) => call.events()),
      stop,
    )
    const head = await readHead(events)
    if (head.at(-1)?.kind !== 'chunks') throw calls[0]?.error ?? new Error('a turn had no lanes')
    const finish = async (): Promise<Turn> => {
      stopHolding()
      const replies = calls.map((call) => call.reply())
      const turn: Turn = { ...begun.turn, replies, completedAt: new Date(clock.nowMs()) }
      await finishTurn(database, begun, turn)
      return turn
    }
    return {
      events: follow(head, events, finish),
      records: () => calls.flatMap(({ record }) => record ?? []),
    }
  } catch (error) {
    await abandon()
    throw error
  }
}

function callLanes(
  options: TakeTurnOptions,
  order: TurnOrder,
  { conversation, turn, history }: BegunTurn,
): { calls: LaneCall[]; stop: () => void } {
  const { messages, caller, admit } = order
  const cancellation = new Cancellation()
  order.cancellation.onCancel((reason) => cancellation.cancel(reason))
  const laneSlots = new LaneTurns()
  const { system } = conversation
  const calls = chooseLanes(conversation.lanes, order.laneIds).map(
    (lane) =>
      new LaneCall(
        {
          lane,
          messages: laneHistory(lane.id, { system, history, messages }),
          caller,
          requestId: laneRequestId(order.requestId, `${turn.conversationId} ${lane.id}`),
          cancellation,
        },
        { chat: options.chat, inference: options.inference, admit, laneSlots },
      ),
  )
  return { calls, stop: () => cancellation.cancel(new ClientDisconnected('the turn is no longer read')) }
}

function chooseLanes(
  lanes: readonly ConversationLane[],
  laneIds: readonly string[] | null,
): readonly ConversationLane[] {
  if (laneIds === null) return lanes
  for (const [index, laneId] of laneIds.entries())
    if (!lanes.some(({ id }) => id === laneId))
      throw invalidValue(`lane_ids.${index}`, 'This conversation has no such lane.')
  return lanes.filter(({ id }) => laneIds.includes(id))
}

const TIME_DIGITS = 12
const PREFIX = 'req_'

/** Returns the same id for the same request and lane. It contains the time of the request. */
function laneRequestId(requestId: string, lane: string): string {
  const time = requestId.slice(PREFIX.length, PREFIX.length + TIME_DIGITS)
  const hash = createHash('sha256').update(`${requestId} ${lane}`).digest('hex')
  return `${PREFIX}${time}7${hash.slice(0, 3)}8${hash.slice(3, 18)}`
}

/** Reads events up to the first chunk of any lane. */
async function readHead(events: AsyncGenerator<LaneEvent, void>): Promise<LaneEvent[]> {
  const head: LaneEvent[] = []
  for (;;) {
    const next = await events.next()
    if (next.done === true) return head
    head.push(next.value)
    if (next.value.kind === 'chunks') return head
  }
}

async function* follow(
  head: readonly LaneEvent[],
  rest: AsyncGenerator<LaneEvent, void>,
  finish: () => Promise<Turn>,
): AsyncGenerator<TurnEvent, void> {
  let isFinished = false
  try {
    yield* head
    yield* rest
    isFinished = true
    yield { kind: 'ended', turn: await finish() }
  } finally {
    if (!isFinished) {
      await rest.return()
      await finish()
    }
  }
}
