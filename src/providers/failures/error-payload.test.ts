import { describe, expect, it } from 'vitest'
import { readErrorObject, readErrorPayload } from './error-payload.ts'

describe('readErrorObject', () => {
  it.each([
    [
      'OpenAI',
      { error: { message: 'no', type: 'invalid_request_error', param: 'n', code: 'invalid_value' } },
      { upstreamMessage: 'no', upstreamCode: 'invalid_value', upstreamParam: 'n' },
    ],
    [
      'OpenAI without a code',
      { error: { message: 'no', type: 'server_error', param: null, code: null } },
      { upstreamMessage: 'no', upstreamCode: 'server_error' },
    ],
    [
      'OpenRouter, whose code is a status',
      { error: { message: 'no', code: 429 } },
      { upstreamMessage: 'no', upstreamStatus: 429 },
    ],
    ['a bare text', { error: 'no' }, { upstreamMessage: 'no' }],
    ['vLLM', { object: 'error', message: 'no', code: 400 }, { upstreamMessage: 'no', upstreamStatus: 400 }],
    ['Mistral', { message: 'no', request_id: 'x' }, { upstreamMessage: 'no' }],
    ['FastAPI', { detail: [{ msg: 'no' }] }, { upstreamMessage: '[{"msg":"no"}]' }],
    ['a number', { error: 7 }, { upstreamMessage: '7' }],
  ])('reads %s', (_name, payload, said) => {
    expect(readErrorObject(payload)).toEqual(said)
  })

  it.each([
    null,
    'x',
    7,
    [],
    {},
    { choices: [] },
    { choices: [], error: null },
    { choices: [], message: 'hi' },
  ])('finds no error in %j', (payload) => {
    expect(readErrorObject(payload)).toBeNull()
  })

  it('keeps a limited part of the message', () => {
    expect(readErrorObject({ error: 'x'.repeat(1e6) })?.upstreamMessage?.length).toBe(2000)
  })
})

describe('readErrorPayload', () => {
  it('treats an error inside a 200 answer as a failure of the upstream, unless it says otherwise', () => {
    expect(readErrorPayload('p', { error: { message: 'no' } })).toMatchObject({
      isRetryable: true,
      isRequestAtFault: false,
      details: { failure: 'status', provider: 'p', status: 500 },
    })
    expect(readErrorPayload('p', { error: { message: 'no', code: 400 } })?.isRequestAtFault).toBe(true)
    expect(readErrorPayload('p', { choices: [] })).toBeNull()
  })
})
