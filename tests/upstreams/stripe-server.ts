import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { StripeObject } from './stripe-objects.ts'
import { StripeState } from './stripe-state.ts'

interface StripeRequest {
  readonly method: string
  readonly path: string
  readonly params: URLSearchParams
  readonly idempotencyKey: string | null
}

export interface StripeServer {
  readonly baseUrl: string
  readonly state: StripeState
  readonly requests: StripeRequest[]
  /** Disturbs the next requests: a status instead of an answer, or a connection that breaks after the work is done. */
  disturbNext(...disturbances: readonly (number | 'cut')[]): void
  /** How long answers take from now on. The work is done at once. */
  delayAnswers(ms: number): void
  /** Stripe forgets idempotency keys after a day. */
  forgetKeys(): void
  close(): Promise<void>
}

export const STRIPE_SECRET_KEY = 'sk_test_local'

/** Starts a local server for the part of Stripe's API that payments need, as its reference describes it. */
export async function startStripeServer(): Promise<StripeServer> {
  const state = new StripeState()
  const requests: StripeRequest[] = []
  const disturbances: (number | 'cut')[] = []
  let answerMs = 0
  const answered = new Map<string, { params: string; answer: Answer }>()

  const answer = (request: StripeRequest): Answer => {
    const { idempotencyKey, params } = request
    const known = idempotencyKey === null ? undefined : answered.get(idempotencyKey)
    if (known !== undefined) {
      if (known.params === params.toString()) return known.answer
      return failure(
        400,
        'idempotency_error',
        'Keys for idempotent requests can only be used with the same parameters.',
      )
    }
    const fresh = route(state, request)
    if (idempotencyKey !== null) answered.set(idempotencyKey, { params: params.toString(), answer: fresh })
    return fresh
  }

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await readRequest(incoming)
    requests.push(request)
    const disturbance = disturbances.shift()
    if (incoming.headers.authorization !== `Bearer ${STRIPE_SECRET_KEY}`) {
      send(response, failure(401, 'invalid_request_error', 'Invalid API Key provided.'))
    } else if (typeof disturbance === 'number') {
      send(response, failure(disturbance, 'api_error', 'Stripe secret words'))
    } else {
      const result = answer(request)
      if (answerMs > 0) await delay(answerMs)
      if (disturbance === 'cut') response.destroy()
      else send(response, result)
    }
  }

  const server = createServer((incoming, response) => void serve(incoming, response))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state,
    requests,
    disturbNext: (...wanted) => void disturbances.push(...wanted),
    delayAnswers: (ms) => {
      answerMs = ms
    },
    forgetKeys: () => answered.clear(),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

interface Answer {
  readonly status: number
  readonly body: object
}

function route(state: StripeState, { method, path, params }: StripeRequest): Answer {
  const [, , resource, ...rest] = path.split('/')
  const id = rest.at(-1) ?? ''
  if (method === 'POST' && path === '/v1/checkout/sessions') return found(state.createSession(params))
  if (method === 'GET' && path.startsWith('/v1/checkout/sessions/'))
    return found(state.readSession(id, params))
  if (method === 'POST' && path === '/v1/customers') return found(state.saved.createCustomer(params))
  if (method === 'POST' && resource === 'payment_methods' && id === 'detach')
    return state.saved.detach(rest[0] ?? '')
      ? found(state.saved.methodOf(rest[0] ?? ''))
      : failure(
          400,
          'invalid_request_error',
          'The payment method you provided is not attached to a customer so detachment is impossible.',
        )
  if (method === 'POST' && path === '/v1/payment_intents') return chargeSaved(state, params)
  if (method === 'GET' && path === '/v1/payment_intents') return found(state.listIntents(params))
  if (method === 'GET' && resource === 'payment_intents') return found(state.readIntent(id, params))
  if (method === 'GET' && path === '/v1/refunds') return found(state.listRefunds(params.get('charge') ?? ''))
  if (method === 'POST' && path === '/v1/refunds') {
    const refund = state.createRefund(params.get('payment_intent') ?? '', Number(params.get('amount')))
    return refund === null
      ? failure(400, 'invalid_request_error', 'The refund is greater than what is left of the charge.')
      : found(refund)
  }
  return failure(404, 'invalid_request_error', `Unrecognized request URL (${method}: ${path}).`)
}

/** Charges a saved method off session. A decline is the error 402 with the intent in it. */
function chargeSaved(state: StripeState, params: URLSearchParams): Answer {
  const outcome = state.chargeSaved(params)
  if ('error' in outcome) return { status: 400, body: { error: outcome.error } }
  const { intent, decline } = outcome
  if (decline === null) return found(intent)
  const { id } = intent
  const isAuthentication = decline === 'authentication_required'
  return {
    status: 402,
    body: {
      error: {
        type: 'card_error',
        code: isAuthentication ? decline : 'card_declined',
        decline_code: decline,
        message: 'Your card was declined.',
        payment_intent: { ...intent, id },
      },
    },
  }
}

function found(object: StripeObject | null): Answer {
  return object === null
    ? failure(404, 'invalid_request_error', 'No such object.')
    : { status: 200, body: object }
}

function failure(status: number, type: string, message: string): Answer {
  return { status, body: { error: { type, message } } }
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_stripe' })
  response.end(JSON.stringify(body))
}

async function readRequest(incoming: IncomingMessage): Promise<StripeRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk))
  const url = new URL(incoming.url ?? '/', 'http://stripe')
  const body = Buffer.concat(chunks).toString()
  return {
    method: incoming.method ?? '',
    path: url.pathname,
    params: incoming.method === 'GET' ? url.searchParams : new URLSearchParams(body),
    idempotencyKey: incoming.headers['idempotency-key']?.toString() ?? null,
  }
}
