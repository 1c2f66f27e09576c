import { Type, type Static } from 'typebox'
import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import { nullable } from '../../../wires/nullable.ts'
import { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import { refuseUnhonoured } from '../../bodies/refuse-unhonoured.ts'

const LANES_MIN = 2
const LANES_MAX = 10

const { model: Model, ...ChatMembers } = ChatRequest.properties
/** Omits the members that the gateway sets itself: a lane gives one answer, and the gateway decides whether to stream it. */
const { messages: _messages, stream: _stream, stream_options: _options, n: _n, ...LaneMembers } = ChatMembers

/** A model and any chat parameters. Unknown parameters are passed to upstreams that support them. */
const LaneRequest = Type.Object({
  ...LaneMembers,
  model: Model,
  name: nullable(Type.String({ minLength: 1, maxLength: 200, description: 'The model unless told.' })),
  system: nullable(Type.String({ description: 'A system prompt of its own.' })),
})

/** The two ways to specify lanes in a body: one by one, or only by their models. */
export const LaneChoice = {
  lanes: nullable(
    Type.Array(LaneRequest, { minItems: LANES_MIN, maxItems: LANES_MAX }),
    'The lanes: models with their parameters, side by side.',
  ),
  models: nullable(
    Type.Array(Model, {
      minItems: LANES_MIN,
      maxItems: LANES_MAX,
      description: 'Instead of `lanes`, for lanes that differ in nothing else.',
    }),
  ),
}

interface LaneOrder {
  readonly model: string
  readonly name: string | null
  readonly params: Readonly<Record<string, unknown>>
}

interface ChosenLanes {
  readonly lanes?: readonly Static<typeof LaneRequest>[] | null
  readonly models?: readonly string[] | null
}

/** Throws if the body has neither `lanes` nor `models`, or both. */
export function readLanes({ lanes = null, models = null }: ChosenLanes): LaneOrder[] {
  if (lanes !== null && models !== null)
    throw invalidValue('models', "Send either 'lanes' or 'models', not both.")
  if (lanes !== null) {
    for (const [index, lane] of lanes.entries()) refuseUnhonoured({ ...lane }, undefined, `lanes.${index}.`)
    return lanes.map(toLaneOrder)
  }
  if (models !== null) return models.map((model) => ({ model, name: null, params: {} }))
  throw new AppError('missing_required_parameter', "'lanes' is required, or 'models'.", { param: 'lanes' })
}

/** Members that the gateway sets for each call. */
const OWN_MEMBERS = new Set(['model', 'name', 'messages', 'stream', 'stream_options', 'n'])

function toLaneOrder(lane: Static<typeof LaneRequest>): LaneOrder {
  const members = Object.entries(lane).filter(([member, value]) => !OWN_MEMBERS.has(member) && value !== null)
  return { model: lane.model, name: lane.name ?? null, params: Object.fromEntries(members) }
}
