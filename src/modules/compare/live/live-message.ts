import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { parseJson } from '../../../kernel/json/parse-json.ts'

/** Asks the process that works on a run to send its answers while they are written. */
export const FOLLOW_TOPIC = 'compare.follow'
/** Answers that are being written. */
export const LIVE_TOPIC = 'compare.live'

const Count = Type.Integer({ minimum: 0 })
const Cell = { promptIndex: Count, repeat: Count, lanePosition: Count }

const FollowMessage = Type.Object({
  runId: Type.String(),
  /** Whether the sender has none of the texts yet, or missed a part of them. */
  isFromStart: Type.Boolean(),
})
type FollowMessage = Static<typeof FollowMessage>

const LiveMessage = Type.Object({
  runId: Type.String(),
  pieces: Type.Array(
    Type.Object({
      ...Cell,
      /** Grows with each try of a cell, which begins its text anew. */
      attempt: Type.Number(),
      offset: Count,
      text: Type.String(),
    }),
  ),
  ended: Type.Array(Type.Object({ ...Cell, status: Type.Enum(['completed', 'failed']) })),
  isRunOver: Type.Boolean(),
})
export type LiveMessage = Static<typeof LiveMessage>

/** A character takes six bytes at most, escaped, so a message of this many fits into one of the bus with all else. */
export const TEXT_LENGTH_MAX = 800
/** Of pieces and of ended cells in one message. */
export const ENTRIES_MAX = 8

const followValidator = Compile(FollowMessage)
const liveValidator = Compile(LiveMessage)

/** Returns null for a message of another release that this one cannot read. */
export function decodeFollow(text: string): FollowMessage | null {
  const value = parseJson(text)
  return followValidator.Check(value) ? value : null
}

/** Returns null for a message of another release that this one cannot read. */
export function decodeLive(text: string): LiveMessage | null {
  const value = parseJson(text)
  return liveValidator.Check(value) ? value : null
}
