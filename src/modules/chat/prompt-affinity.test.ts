import { describe, expect, test } from 'vitest'
import type { InferenceRequest } from '../inference/inference.ts'
import { affinityOf } from './prompt-affinity.ts'

const LONG = 'You are a careful assistant. '.repeat(60)

function affinity(
  body: object,
  { accountId = 'one', sessionId }: { accountId?: string; sessionId?: string } = {},
) {
  const text = JSON.stringify(body)
  const request = {
    body,
    text,
    bytes: text.length,
    caller: { accountId },
    ...(sessionId === undefined ? {} : { sessionId: () => sessionId }),
  } as InferenceRequest<object>
  return affinityOf(request)()
}

const system = { role: 'system', content: LONG }
const user = (content: unknown) => ({ role: 'user', content })
const talk = (...messages: object[]) => ({ messages: [system, ...messages] })

describe('the affinity of a request', () => {
  test('is that of its conversation, however long it is', () => {
    const first = affinity(talk(user('Hello')))
    expect(first).not.toBeNull()
    expect(affinity(talk(user('Hello'), { role: 'assistant', content: 'Hi' }, user('Go on')))).toBe(first)
    expect(affinity(talk(user('Goodbye')))).not.toBe(first)
    expect(affinity(talk(user('Hello')), { accountId: 'another' })).not.toBe(first)
  })

  test("is the client's identifier, in this order", () => {
    const hinted = { ...talk(user('Hello')), user: 'u', metadata: { user_id: 'm' } }
    const key = affinity({ ...hinted, prompt_cache_key: 'k' }, { sessionId: 's' })
    expect(affinity({ prompt_cache_key: 'k' })).toBe(key)
    const session = affinity(hinted, { sessionId: 's' })
    expect(affinity({ messages: [user('x')] }, { sessionId: 's' })).toBe(session)
    expect(affinity(hinted)).toBe(affinity({ user: 'u' }))
    expect(affinity({ metadata: { user_id: 'm' } })).not.toBeNull()
    expect(
      new Set([key, session, affinity({ user: 'u' }), affinity({ metadata: { user_id: 'm' } })]).size,
    ).toBe(4)
  })

  test('does not change with the billing line of Claude Code', () => {
    const withLine = (hash: string) => ({
      system: [
        { type: 'text', text: `x-anthropic-billing-header: cc_version=2; cch=${hash};` },
        { type: 'text', text: LONG },
      ],
      messages: [user('Hello')],
    })
    expect(affinity(withLine('71fea'))).toBe(affinity(withLine('0aaa9')))
  })

  test.each([
    [
      'of the Messages wire',
      { system: [{ type: 'text', text: LONG }], messages: [user([{ type: 'text', text: 'a' }])] },
    ],
    ['of the Responses wire', { instructions: LONG, input: [user([{ type: 'input_text', text: 'a' }])] }],
    ['of a text as input', { instructions: LONG, input: 'a' }],
    ['of a text completion', { prompt: LONG }],
  ])('is found in a prompt %s', (_name, body) => {
    expect(affinity(body)).not.toBeNull()
    const changed = JSON.parse(JSON.stringify(body).replaceAll('"a"', '"b"').replace('careful', 'careless'))
    expect(affinity(changed)).not.toBe(affinity(body))
  })

  test('is null if a prompt is too short for any cache, or empty', () => {
    expect(affinity({ messages: [user('Hello')] })).toBeNull()
    expect(affinity({ messages: [], padding: LONG })).toBeNull()
    expect(affinity({ user: '', prompt_cache_key: 5, metadata: null, messages: [] })).toBeNull()
  })
})
