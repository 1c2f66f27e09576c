import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readEvents } from '../chat/read-events.ts'
import { VENDORS } from '../clients/vendors.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import type { ScriptedServer } from '../upstreams/scripted-server.ts'
import { checkLiterals, type TypedLiteral } from './check-literals.ts'

/**
 * The types of the official SDKs, as the vendors send them: without what the SDKs add, and with null where OpenAI sends null against
 * its types (the Open Responses specification and the last chunks of its streams need it). Anthropic's types call members nullable that
 * Anthropic leaves out, and clients with schemas of their own refuse null there. Null is sent only where Anthropic sends it.
 */
const TYPES = `
import type OpenAI from 'openai'
import type Anthropic from '@anthropic-ai/sdk'

type AddedBySdk = 'output_text' | '_request_id'
type NullAtOpenAi = 'system_fingerprint' | 'usage' | 'user' | 'prompt_cache_key' | 'safety_identifier'
type Sent<T> = T extends readonly (infer E)[] ? Sent<E>[]
  : T extends object
    ? { [K in keyof T as K extends AddedBySdk ? never : K]: K extends NullAtOpenAi ? Sent<T[K]> | null : Sent<T[K]> }
  : T
type SentAsNull = 'stop_reason' | 'stop_sequence'
type LeftOut<T> = T extends readonly (infer E)[] ? LeftOut<E>[]
  : unknown extends T ? T
  : T extends object
    ? { [K in keyof T as null extends T[K] ? (K extends SentAsNull ? K : never) : K]: LeftOut<T[K]> }
      & { [K in keyof T as null extends T[K] ? (K extends SentAsNull ? never : K) : never]?: LeftOut<Exclude<T[K], null>> }
  : T

type Chat = Sent<OpenAI.Chat.ChatCompletion>
type ChatChunk = Sent<OpenAI.Chat.ChatCompletionChunk>
type Completion = Sent<OpenAI.Completion>
type CompletionChunk = Sent<Omit<OpenAI.Completion, 'choices'>
  & { choices: (Omit<OpenAI.CompletionChoice, 'finish_reason'> & { finish_reason: string | null })[] }>
type Response = Sent<OpenAI.Responses.Response>
type ResponseEvent = Sent<OpenAI.Responses.ResponseStreamEvent>
type ResponseItems = Sent<{ object: 'list', data: OpenAI.Responses.ResponseItem[], first_id: string, last_id: string, has_more: boolean }>
type Message = LeftOut<Anthropic.Message>
type MessageEvent = LeftOut<Anthropic.RawMessageStreamEvent> | { type: 'ping' }
type MessageTokens = Anthropic.MessageTokensCount
`

/**
 * Members of the gateway's own, which clients of the wire ignore. `stop_reason` of a choice is vLLM's, the penalties of a response are
 * required by the Open Responses specification, and OpenAI sends the status of a custom call without a type for it.
 */
const OWN: Readonly<Record<string, readonly string[]>> = {
  chat: [
    'cost_usd',
    'reasoning_content',
    'reasoning_details',
    'extra_content',
    'stop_reason',
    'cache_write_tokens',
  ],
  completions: ['cost_usd', 'stop_reason', 'cache_write_tokens'],
  messages: ['cost_usd'],
  responses: ['cost_usd', 'presence_penalty', 'frequency_penalty', 'store', 'custom_tool_call.status'],
}

let sandbox: TestGateway
let gateway: TestGateway
const servers = new Map<string, ScriptedServer>()

beforeAll(async () => {
  const settings: Record<string, string> = {}
  for (const vendor of VENDORS) {
    const server = await vendor.start()
    servers.set(vendor.name, server)
    Object.assign(settings, vendor.settings(server.baseUrl))
  }
  sandbox = await startTestGateway()
  gateway = await startTestGateway({ settings })
})

afterAll(async () => {
  await sandbox.close()
  await gateway.close()
  for (const server of servers.values()) await server.close()
})

const QUESTION = 'How is the weather in Paris?'
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const TOOL = { name: 'get_weather', description: 'The weather of a city.' }
const MESSAGES = [{ role: 'user', content: QUESTION }]

/** What each wire is asked: options of the request by what they are for. */
const ASKED: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  chat: {
    plain: {},
    several: { n: 2, logprobs: true, top_logprobs: 2, stop: ['a'] },
    thinking: { reasoning_effort: 'low' },
    short: { max_tokens: 3 },
    calling: {
      tools: [{ type: 'function', function: { ...TOOL, parameters: PARAMETERS } }],
      tool_choice: 'required',
    },
    counted: { stream_options: { include_usage: true } },
  },
  completions: { plain: {}, several: { n: 2, logprobs: 2 }, short: { max_tokens: 2 } },
  messages: {
    plain: {},
    thinking: { thinking: { type: 'enabled', budget_tokens: 1_024 }, max_tokens: 4_096 },
    short: { max_tokens: 3, stop_sequences: ['never said'] },
    stopped: { stop_sequences: ['a', 'e'] },
    calling: { tools: [{ ...TOOL, input_schema: PARAMETERS }], tool_choice: { type: 'any' } },
  },
  responses: {
    plain: {},
    thinking: { reasoning: { effort: 'low' } },
    summarised: { reasoning: { effort: 'low', summary: 'auto' }, include: ['reasoning.encrypted_content'] },
    short: { max_output_tokens: 16 },
    calling: {
      tools: [{ type: 'function', strict: false, ...TOOL, parameters: PARAMETERS }],
      tool_choice: 'required',
    },
    custom: { tools: [{ type: 'custom', ...TOOL }], tool_choice: 'required' },
  },
}

const PATHS: Readonly<Record<string, string>> = {
  chat: '/v1/chat/completions',
  completions: '/v1/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
}

function bodyOf(wire: string, model: string, options: object): object {
  if (wire === 'completions') return { model, prompt: QUESTION, ...options }
  if (wire === 'responses') return { model, input: QUESTION, ...options }
  return { model, messages: MESSAGES, ...(wire === 'messages' ? { max_tokens: 200 } : {}), ...options }
}

const WHOLE_TYPES: Readonly<Record<string, string>> = {
  chat: 'Chat',
  completions: 'Completion',
  messages: 'Message',
  responses: 'Response',
}

const EVENT_TYPES: Readonly<Record<string, string>> = {
  chat: 'ChatChunk',
  completions: 'CompletionChunk',
  messages: 'MessageEvent',
  responses: 'ResponseEvent',
}

/** Sends one request whole and streamed, and returns everything that came back. */
async function collect(
  from: TestGateway,
  wire: string,
  label: string,
  body: object,
): Promise<TypedLiteral[]> {
  const path = PATHS[wire] ?? ''
  const literals: TypedLiteral[] = []
  const add = (type: string | undefined, value: unknown) =>
    literals.push({ label: `${label} ${type}`, type: type ?? '', value: withoutOwn(value, OWN[wire] ?? []) })
  const { stream_options: _streamed, ...unstreamed } = { stream_options: null, ...body }
  const whole = await from.request('POST', path, { body: unstreamed })
  expect([label, whole.status, whole.body.error]).toEqual([
    label,
    200,
    wire === 'responses' ? null : undefined,
  ])
  add(WHOLE_TYPES[wire], whole.body)
  const response = await from.fetch('POST', path, { body: { ...body, stream: true } })
  const { chunks } = await readEvents(response)
  expect([label, response.status, chunks.length > 1]).toEqual([label, 200, true])
  for (const event of chunks) add(EVENT_TYPES[wire], event)
  if (wire === 'responses') {
    add('Response', (await from.request('GET', `${path}/${whole.body.id}`)).body)
    add('ResponseItems', (await from.request('GET', `${path}/${whole.body.id}/input_items`)).body)
  }
  return literals
}

function withoutOwn(value: unknown, own: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutOwn(one, own))
  if (typeof value !== 'object' || value === null) return value
  const kind = 'type' in value ? `${String(value.type)}.` : ''
  const members = Object.entries(value).filter(([name]) => !own.includes(name) && !own.includes(kind + name))
  return Object.fromEntries(members.map(([name, member]) => [name, withoutOwn(member, own)]))
}

/** Values with the same members need to be compiled once. */
function distinct(literals: readonly TypedLiteral[]): TypedLiteral[] {
  const byShape = new Map(literals.map((literal) => [literal.type + shapeOf(literal.value), literal]))
  return [...byShape.values()]
}

function shapeOf(value: unknown): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(shapeOf))].join()}]`
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value
  const kind = 'type' in value ? String(value.type) : ''
  return `${kind}{${Object.entries(value)
    .map(([name, member]) => `${name}:${shapeOf(member)}`)
    .join()}}`
}

const expectTyped = async (literals: readonly TypedLiteral[]) => {
  expect(literals.length).toBeGreaterThan(3)
  expect(await checkLiterals(TYPES, distinct(literals))).toEqual([])
}

const COMPILE_MS_MAX = 240_000
const SANDBOX_MODELS: Readonly<Record<string, string>> = {
  chat: 'gpt-5.4-mini',
  completions: 'gpt-5.4-mini',
  messages: 'claude-sonnet-4-6',
  responses: 'gpt-5.4-mini',
}

describe('every answer and event has the members of the official SDK’s types, and null only where they allow it,', () => {
  test.each(Object.keys(ASKED))(
    'from the sandbox on %s',
    async (wire) => {
      const literals: TypedLiteral[] = []
      for (const [name, options] of Object.entries(ASKED[wire] ?? {}))
        literals.push(
          ...(await collect(
            sandbox,
            wire,
            `${wire} ${name}`,
            bodyOf(wire, SANDBOX_MODELS[wire] ?? '', options),
          )),
        )
      if (wire === 'messages') {
        const counted = await sandbox.request('POST', '/v1/messages/count_tokens', {
          body: { model: SANDBOX_MODELS[wire], messages: MESSAGES },
        })
        literals.push({ label: 'count', type: 'MessageTokens', value: counted.body })
      }
      await expectTyped(literals)
    },
    COMPILE_MS_MAX,
  )

  test.each(Object.keys(ASKED))(
    'translated on %s',
    async (wire) => {
      const literals: TypedLiteral[] = []
      // Anthropic speaks Messages itself: its answers are passed on.
      const translated = VENDORS.filter(({ provider }) => wire !== 'messages' || provider !== 'anthropic')
      for (const vendor of translated) {
        const server = servers.get(vendor.name)
        const call = { id: 'call_1', name: 'get_weather', input: { city: 'Paris' } }
        const answers = {
          plain: vendor.say({ text: 'Hello there' }),
          thinking: vendor.say({ reasoning: 'Hm.', text: 'Hello there', parts: { cached: 2, reasoning: 2 } }),
          short: vendor.say({ text: 'Hello', isTooLong: true }),
          calling: vendor.say({ toolCalls: [call] }),
        }
        for (const [name, answer] of Object.entries(answers)) {
          const options = ASKED[wire]?.[name]
          if (options === undefined) continue
          server?.respondWith(answer)
          const label = `${wire} ${vendor.name} ${name}`
          literals.push(...(await collect(gateway, wire, label, bodyOf(wire, vendor.model, options))))
        }
      }
      await expectTyped(literals)
    },
    COMPILE_MS_MAX,
  )
})
