import { ApiFailure } from '../api/api-failure.ts'
import type { GatewayClient, Schemas } from '../api/gateway-client.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { estimateCostUsd, type AskedMedia } from './estimate-cost.ts'

type Model = Schemas['Model']

/** A model with about what the request costs with it. */
export interface ChosenModel {
  readonly id: string
  readonly costUsd: number | null
}

interface ModelKind {
  readonly category: Model['category']
  readonly capability?: Model['capabilities'][number]
}

/** Returns the model that was named, or else the one that does this for the least among those that are ready and stay. */
export async function chooseMediaModel(
  gateway: GatewayClient,
  kind: ModelKind,
  { model: named, ...asked }: AskedMedia & { readonly model: string | undefined },
): Promise<ChosenModel> {
  if (named !== undefined) return priceNamed(gateway, named, asked)
  const { data } = await gateway.call((routes) => routes.GET('/v1/models', { params: { query: kind } }))
  const ready = data.filter((model) => model.is_ready && takesDuration(model, asked.seconds))
  const staying = ready.filter((model) => model.shutdown_date === null)
  const priced = (staying.length > 0 ? staying : ready).map((model) => ({
    id: model.id,
    costUsd: estimateCostUsd(model, asked),
  }))
  const [cheapest] = priced.toSorted((one, other) => (one.costUsd ?? Infinity) - (other.costUsd ?? Infinity))
  if (cheapest !== undefined) return cheapest
  throw new CommandFailure(
    EXIT.notFound,
    `No model of the kind ${kind.category} is ready${asked.seconds === undefined ? '' : ` for ${asked.seconds} seconds`}.`,
    'See "parkway models".',
  )
}

/** An unknown model is left to the order, which names what is wrong. */
async function priceNamed(gateway: GatewayClient, id: string, asked: AskedMedia): Promise<ChosenModel> {
  try {
    const model = await gateway.call((routes) => routes.GET('/v1/models/{id}', { params: { path: { id } } }))
    return { id, costUsd: estimateCostUsd(model, asked) }
  } catch (error) {
    if (error instanceof ApiFailure && error.status < 500 && error.status !== 401)
      return { id, costUsd: null }
    throw error
  }
}

function takesDuration({ durations }: Model, seconds: number | undefined): boolean {
  if (seconds === undefined || durations === null) return true
  const { min_seconds: min, max_seconds: max, allowed_seconds: allowed } = durations
  return allowed === null ? seconds >= min && seconds <= max : allowed.includes(seconds)
}
