import type { RateOutcome } from '../../storage/borrowing/borrowed-rates.ts'
import type { Caller } from '../keys/keys.ts'
import { Admission, statesOf, type Refusal } from './admission.ts'
import type { Gates, KeyGate, RateGate, SlotGate } from './gates.ts'
import { needRate, TAKEN, takeNeeds, type Need } from './take-needs.ts'

interface Request {
  readonly caller: Caller
  readonly category: string
  readonly tokens: number
}

type Outcome = Admission | Refusal

/** Admits synchronously if this process has borrowed enough of every limit. Otherwise requests all missing parts at once. */
export function admit(gates: Gates, { caller, category, tokens }: Request): Outcome | Promise<Outcome> {
  const nowMs = performance.now()
  const gate = gates.open(caller, category, nowMs)
  if (gate instanceof Promise) return gate.then((opened) => pass(opened, tokens, performance.now()))
  return pass(gate, tokens, nowMs)
}

function pass(gate: KeyGate, tokens: number, nowMs: number): Outcome | Promise<Outcome> {
  const tokensTaken = Math.min(tokens, gate.tokens?.perMinute ?? tokens)
  const { account } = gate
  const hasRequests = takeRate(gate.requests, 1, nowMs)
  const hasTokens = takeRate(gate.tokens, tokensTaken, nowMs)
  const hasSpend = takeRate(account.spend, 0, nowMs)
  const hasSlot = takeSlot(account.slots, nowMs)
  const isNarrow =
    gate.categoryRequests !== null || gate.categorySlots !== null || gate.parentRequests !== null
  if (hasRequests && hasTokens && hasSpend && hasSlot && !isNarrow)
    return new Admission(gate, tokensTaken, nowMs)
  return takeRest(gate, tokensTaken, nowMs, { hasRequests, hasTokens, hasSpend, hasSlot })
}

function takeRate(gate: RateGate | null, units: number, nowMs: number): boolean {
  return gate === null || gate.rate.takeNow(units, gate.perMinute, nowMs)
}

function takeSlot(gate: SlotGate | null, nowMs: number): boolean {
  return gate === null || gate.share.takeNow(gate.capacity, nowMs)
}

interface Taken {
  readonly hasRequests: boolean
  readonly hasTokens: boolean
  readonly hasSpend: boolean
  readonly hasSlot: boolean
}

async function takeRest(gate: KeyGate, tokens: number, nowMs: number, taken: Taken): Promise<Outcome> {
  const { account, categoryRequests, categorySlots, parentRequests } = gate
  const needs = [
    needRate('key_requests', gate.requests, 1, nowMs, taken.hasRequests),
    needRate('key_requests', categoryRequests, 1, nowMs, takeRate(categoryRequests, 1, nowMs)),
    needRate('key_requests', parentRequests, 1, nowMs, takeRate(parentRequests, 1, nowMs)),
    needRate('key_tokens', gate.tokens, tokens, nowMs, taken.hasTokens),
    needRate('tenant_spend', account.spend, 0, nowMs, taken.hasSpend),
    needSlot(gate, account.slots, nowMs, taken.hasSlot),
    needSlot(gate, categorySlots, nowMs, takeSlot(categorySlots, nowMs)),
  ].filter((need) => need !== null)

  return (await takeNeeds(statesOf(gate), needs)) ?? new Admission(gate, tokens, nowMs)
}

const WAIT_MS_MAX = 60_000

function needSlot({ account }: KeyGate, gate: SlotGate | null, nowMs: number, isTaken: boolean): Need | null {
  if (gate === null) return null
  const { share, capacity } = gate
  // The average duration of a request, after which a slot may be free.
  const retryAfterMs = Math.min(WAIT_MS_MAX, Math.max(1, account.averageMs))
  const toOutcome = (isSlotTaken: boolean): RateOutcome =>
    isSlotTaken ? TAKEN : { isTaken: false, retryAfterMs }
  const asked = isTaken || share.take(capacity, nowMs)
  return {
    layer: 'tenant_concurrency',
    limit: capacity,
    isTaken: asked instanceof Promise ? asked.then(toOutcome) : toOutcome(asked),
    giveBack: () => share.release(),
  }
}
