import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { parseJson } from '../../kernel/parse-json.ts'
import { FAILURE_CODES } from '../gpu-driver.ts'

const Pid = Type.Integer({ minimum: 1 })

/** What a keeper needs to run an engine; written once, before it starts. */
const EnginePlan = Type.Object({
  instanceId: Type.String(),
  argv: Type.Array(Type.String(), { minItems: 1 }),
  environment: Type.Record(Type.String(), Type.String()),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  model: Type.String(),
  healthPath: Type.String(),
  warmsUp: Type.Boolean(),
  /** A ready engine that answers no health check for so long is ended and started again; 0 for never. */
  hangMs: Type.Integer({ minimum: 0 }),
  stopGraceMs: Type.Integer({ minimum: 0 }),
  ramBytesMax: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
  restartMs: Type.Integer({ minimum: 0 }),
  /** How long an engine that crashed may take to be ready again. */
  restartMsMax: Type.Integer({ minimum: 1 }),
  /** What the gateway's clock is ahead of the machine's. */
  clockAheadMs: Type.Number(),
  boundAtMs: Type.Number(),
  placeNames: Type.Array(Type.String()),
  /** Said in the log before the engine starts. */
  notes: Type.Array(Type.String()),
})
export type EnginePlan = Static<typeof EnginePlan>

const Command = Type.Array(Type.Union([Type.String(), Type.Array(Type.String())]))

/** An order that has its place; written when it is launched, before the files of its model are there. */
const Placement = Type.Object({
  order: Type.Object({
    instanceId: Type.String(),
    tierId: Type.String(),
    huggingfaceId: Type.String(),
    revision: Type.Union([Type.String(), Type.Null()]),
    quantization: Type.String(),
    maxModelLen: Type.Union([Type.Integer(), Type.Null()]),
    environment: Type.Record(Type.String(), Type.String()),
  }),
  /** Whether the model is fetched with a token of the account, which is not written down. */
  hasToken: Type.Boolean(),
  /** Empty for llama.cpp. */
  command: Command,
  ramBytesMax: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
  gpus: Type.Array(Type.Integer({ minimum: 0 })),
  placeNames: Type.Array(Type.String()),
  boundAtMs: Type.Number(),
})
export type Placement = Static<typeof Placement>

/** A process that is not mistaken for a later one with the same pid. */
const ProcessIdentity = Type.Object({ pid: Pid, startedAt: Type.String() })
export type ProcessIdentity = Static<typeof ProcessIdentity>

/** What is known of an instance; written by its keeper, and by whoever finds that dead. */
const EngineState = Type.Object({
  phase: Type.Enum(['loading', 'ready', 'stopping', 'ended']),
  keeper: Type.Union([ProcessIdentity, Type.Null()]),
  engine: Type.Union([ProcessIdentity, Type.Null()]),
  boundAtMs: Type.Union([Type.Number(), Type.Null()]),
  releasedAtMs: Type.Union([Type.Number(), Type.Null()]),
  failure: Type.Union([Type.Object({ code: Type.Enum(FAILURE_CODES), message: Type.String() }), Type.Null()]),
})
export type EngineState = Static<typeof EngineState>

const Order = Type.Object({ orderedAtMs: Type.Number() })
export type PlacedOrder = Static<typeof Order>

/** Throws where a file of ours is not what was written. */
export const parsePlan = (text: string): EnginePlan => Value.Parse(EnginePlan, parseJson(text))
export const parseState = (text: string): EngineState => Value.Parse(EngineState, parseJson(text))
export const parsePlacement = (text: string): Placement => Value.Parse(Placement, parseJson(text))
export const parseOrder = (text: string): PlacedOrder => Value.Parse(Order, parseJson(text))
