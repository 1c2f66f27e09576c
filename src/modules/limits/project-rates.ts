import type { BorrowedRates } from '../../storage/borrowing/borrowed-rates.ts'
import type { Caller, ProjectModelRates } from '../keys/keys.ts'
import { rateStateOf, type ModelAdmission, type Refusal } from './admission.ts'
import type { DayRequests } from './day-requests.ts'
import type { RateGate } from './gates.ts'
import { needRate, TAKEN, takeNeeds, type Need } from './take-needs.ts'

/** What a request for a model needs, before its usage is known. */
interface ModelDemand {
  readonly tokens: number
  readonly images: number
  readonly audioBytes: number
}

export type AdmitModel = (
  caller: Caller,
  model: string,
  demand: ModelDemand,
) => Promise<ModelAdmission | Refusal> | null

const BYTES_PER_MEGABYTE = 1_000_000

/** Returns null at once if the project has no limits for the model: that is all that it costs for nearly every request. */
export function createProjectRates(rates: BorrowedRates, days: DayRequests): AdmitModel {
  return (caller, model, demand) => {
    const own = caller.project?.rates?.get(model)
    return own === undefined ? null : admit({ rates, days }, caller, { model, own, demand })
  }
}

interface ModelRequest {
  readonly model: string
  readonly own: ProjectModelRates
  readonly demand: ModelDemand
}

async function admit(
  { rates, days }: { rates: BorrowedRates; days: DayRequests },
  { projectId, accountId }: Caller,
  { model, own, demand }: ModelRequest,
): Promise<ModelAdmission | Refusal> {
  const nowMs = performance.now()
  const project = projectId ?? accountId
  const open = (unit: string, perMinute: number | null): RateGate | null =>
    perMinute === null
      ? null
      : { rate: rates.rate(`project:${project}:${model}:${unit}`, perMinute), perMinute }
  const requests = open('requests', own.requestsPerMinute)
  const tokens = open('tokens', own.tokensPerMinute)
  const images = open('images', own.imagesPerMinute)
  const perMegabytes = own.audioMegabytesPerMinute
  const audio = open('audio', perMegabytes === null ? null : perMegabytes * BYTES_PER_MEGABYTE)
  const need = (gate: RateGate | null, units: number, unit: string): Need | null => {
    if (gate === null || units <= 0) return null
    // What is above the limit takes all of it: it would never be admitted otherwise.
    const least = Math.min(units, gate.perMinute)
    const isTaken = gate.rate.takeNow(least, gate.perMinute, nowMs)
    const found = needRate('project', gate, least, nowMs, isTaken)
    return found && { ...found, unit }
  }
  const perDay = own.requestsPerDay
  const day = perDay === null ? null : { projectId: project, model, perDay }
  const needs = [
    need(requests, 1, `requests a minute to '${model}'`),
    need(tokens, demand.tokens, `tokens a minute of '${model}'`),
    need(images, demand.images, `images a minute of '${model}'`),
    need(audio, demand.audioBytes, `bytes of audio a minute to '${model}'`),
    day && {
      layer: 'project' as const,
      unit: `requests a day to '${model}'`,
      limit: day.perDay,
      isTaken: days.takeNow(day, nowMs) ? TAKEN : days.take(day),
      giveBack: () => days.giveBack(day),
    },
  ].filter((one) => one !== null)
  const states = {
    requestRate: () => rateStateOf(requests, performance.now()),
    tokenRate: () => rateStateOf(tokens, performance.now()),
  }
  const refusal = await takeNeeds(states, needs)
  if (refusal !== null) return refusal
  const taken = Math.min(demand.tokens, tokens?.perMinute ?? 0)
  return {
    isAdmitted: true,
    finish: (used) => tokens?.rate.giveBack(taken - used, performance.now()),
  }
}
