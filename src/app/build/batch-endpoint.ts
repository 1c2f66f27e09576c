import type { TSchema } from 'typebox'
import { errorBodyOf, toErrorAnswer } from '../../http/answers/error-envelope.ts'
import { compileCheck } from '../../http/bodies/validate.ts'
import { AppError } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { stringifyJson } from '../../kernel/json/stringify-json.ts'
import type { BatchEndpoint, HandedCall, LineCall } from '../../modules/batches/batches.ts'
import type { Category } from '../../modules/catalog/catalog.ts'
import type {
  AskedMembers,
  Inference,
  InferenceRecord,
  InferenceRequest,
  InferenceResult,
  WholeAnswer,
} from '../../modules/inference/inference.ts'
import type { Provider } from '../../providers/provider.ts'
import type { Wire } from '../../wires/wire.ts'

/** Charges of lines are shown under this route. */
const ROUTE = '/v1/batches'

export function createBatchEndpoint<Body extends AskedMembers>(
  { selectorFor, unattended, batchProviders }: EndpointCalls,
  description: EndpointDescription<Body>,
): BatchEndpoint {
  const { path, operation, category, isOffered, schema, wire, isHanded = true, own, start } = description
  const check: (body: unknown) => asserts body is Body = compileCheck(schema)
  const selector = selectorFor([category], isOffered)
  const ask = async ({ body, handed, onAdmitted, baseUrl, ...call }: LineCall): Promise<string> => {
    check(body)
    const text = stringifyJson(body)
    const payload = await unattended.answer({
      ...call,
      ...priceOf(handed),
      operation,
      route: ROUTE,
      body,
      text,
      bytes: Buffer.byteLength(text),
      start: (request) => start(request, baseUrl),
      onAdmitted: (record, admission) => {
        record.isBatch = true
        onAdmitted(record, admission)
      },
    })
    return textOf(payload)
  }
  return {
    path,
    check,
    quote: (caller, body) => {
      const model = isRecord(body) ? body['model'] : undefined
      if (typeof model !== 'string') return null
      return { model: selector.resolveModel(caller, model), nanoUsd: null }
    },
    handingOf: (caller, body) => {
      if (!isHanded) return null
      const model = isRecord(body) ? body['model'] : undefined
      // Each choice would be a request of its own.
      if (typeof model !== 'string' || (isRecord(body) && Number(body['n'] ?? 1) > 1)) return null
      try {
        const found = selector.resolveModel(caller, model)
        const [first] = selector.select(caller, found, model, NO_AFFINITY)
        if (first?.provider.batch === undefined || !batchProviders.has(first.provider.id)) return null
        return { providerId: first.provider.id, upstreamModel: first.upstreamModel }
      } catch (error) {
        // The line gets it as its answer.
        if (error instanceof AppError) return null
        throw error
      }
    },
    ...own,
    ask,
    describeError: (error, requestId) => {
      const answer = toErrorAnswer(error, requestId)
      return { status: answer.status, body: JSON.stringify(errorBodyOf(answer, wire)) }
    },
  }
}

export interface EndpointDescription<Body extends AskedMembers> {
  readonly path: string
  readonly operation: InferenceRecord['operation']
  readonly category: Category
  readonly isOffered: (provider: Provider) => boolean
  /** Of the body. */
  readonly schema: TSchema
  readonly wire: Wire
  /** Whether its requests may be lines of a vendor's batch. */
  readonly isHanded?: boolean
  readonly own?: Partial<Pick<BatchEndpoint, 'quote' | 'answerBytesUsual'>>
  readonly start: (request: InferenceRequest<Body>, baseUrl: string | undefined) => Promise<InferenceResult>
}

export interface EndpointCalls extends Pick<Inference, 'selectorFor' | 'unattended'> {
  /** The providers whose batch APIs get lines. */
  readonly batchProviders: ReadonlySet<string>
}

const NO_AFFINITY = (): null => null

/** A line that is handed over has the limits of the vendor's batches, and not the rates of requests. */
function priceOf(handed: HandedCall | null) {
  if (handed === null) return { batchWay: { kind: 'single' } as const }
  const { handOver, providerId, vendorMillionths, pricedAtMs } = handed
  return {
    batchWay: { kind: 'handed', vendorMillionths } as const,
    handOver,
    onlyProvider: providerId,
    ...(pricedAtMs === null ? {} : { pricedAtMs }),
    admit: () => UNLIMITED,
  }
}

const UNLIMITED = { finish: () => {}, requestRate: () => null, tokenRate: () => null }

function textOf(payload: WholeAnswer['payload']): string {
  return typeof payload === 'string' ? payload : Buffer.concat(payload).toString('utf8')
}
