import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { parseJson } from '../../kernel/json/parse-json.ts'
import { FAILURE_CODES } from '../gpu-driver.ts'

const Pid = Type.Integer({ minimum: 1 })

/** Everything a keeper needs to run an engine. Written once, before the keeper starts. */
const EnginePlan = Type.Object({
  instanceId: Type.String(),
  argv: Type.Array(Type.String(), { minItems: 1 }),
  environment: Type.Record(Type.String(), Type.String()),
  /** The user of the engine. Absent for the keeper's user. */
  user: Type.Optional(Type.Object({ uid: Type.Integer({ minimum: 1 }), gid: Type.Integer({ minimum: 1 }) })),
  /** Whether the program of `argv` is a sandbox, which reports the signal that ended the engine as a status. */
  isSandboxed: Type.Optional(Type.Boolean()),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  model: Type.String(),
  healthPath: Type.String(),
  warmsUp: Type.Boolean(),
  /** A ready engine that answers no health check for this long is killed and restarted. 0 disables the check. */
  hangMs: Type.Integer({ minimum: 0 }),
  stopGraceMs: Type.Integer({ minimum: 0 }),
  ramBytesMax: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
  restartMs: Type.Integer({ minimum: 0 }),
  /** Time limit for a restarted engine to become ready. */
  restartMsMax: Type.Integer({ minimum: 1 }),
  /** Offset of the gateway's clock from the machine's clock. */
  clockAheadMs: Type.Number(),
  boundAtMs: Type.Number(),
  placeNames: Type.Array(Type.String()),
  /** Lines written to the log before the engine starts. */
  notes: Type.Array(Type.String()),
})
export type EnginePlan = Static<typeof EnginePlan>

const Command = Type.Array(Type.Union([Type.String(), Type.Array(Type.String())]))

/** An order with its assigned place. Written at the launch, before the model is fetched. */
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
  /** Whether the model is fetched with a token of the account. The token itself is not stored. */
  hasToken: Type.Boolean(),
  /** Empty for the built-in llama.cpp engine. */
  command: Command,
  ramBytesMax: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
  gpus: Type.Array(Type.Integer({ minimum: 0 })),
  placeNames: Type.Array(Type.String()),
  boundAtMs: Type.Number(),
})
export type Placement = Static<typeof Placement>

/** Identifies a process by pid and start time, because a pid can be reused. */
const ProcessIdentity = Type.Object({ pid: Pid, startedAt: Type.String() })
export type ProcessIdentity = Static<typeof ProcessIdentity>

/** The state of an instance. Written by its keeper, or by a driver that ends an instance without a live keeper. */
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

/** These parsers throw if the file does not match its schema. */
export const parsePlan = (text: string): EnginePlan => Value.Parse(EnginePlan, parseJson(text))
export const parseState = (text: string): EngineState => Value.Parse(EngineState, parseJson(text))
export const parsePlacement = (text: string): Placement => Value.Parse(Placement, parseJson(text))
export const parseOrder = (text: string): PlacedOrder => Value.Parse(Order, parseJson(text))
