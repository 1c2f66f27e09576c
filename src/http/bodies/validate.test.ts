import * as fc from 'fast-check'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../kernel/app-error.ts'
import { ChatRequest } from '../../wires/openai-chat/chat-request.ts'
import { compileCheck, compileConversion } from './validate.ts'

const checkChat = compileCheck(ChatRequest)

const problemOf = (work: () => unknown) => {
  try {
    work()
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, param: error.param, message: error.message }
    throw error
  }
  return null
}

const message = (content: unknown) => ({ model: 'm', messages: [{ role: 'user', content }] })

describe('compileCheck', () => {
  it('accepts a valid request with unknown fields', () => {
    expect(
      problemOf(() => checkChat({ ...message('hi'), some_vendor_field: { x: 1 }, temperature: null })),
    ).toBeNull()
  })

  it.each([
    [{}, 'missing_required_parameter', 'model'],
    [{ model: 'm' }, 'missing_required_parameter', 'messages'],
    [{ model: 5, messages: [] }, 'invalid_value', 'model'],
    [{ model: 'm', messages: 'no' }, 'invalid_value', 'messages'],
    [{ model: 'm', messages: [] }, 'invalid_value', 'messages'],
    [{ ...message('x'), temperature: 9 }, 'invalid_value', 'temperature'],
    [{ ...message('x'), n: 1.5 }, 'invalid_value', 'n'],
    [{ ...message('x'), stop: 7 }, 'invalid_value', 'stop'],
    [message(5), 'invalid_value', 'messages.0.content'],
    [message([{ type: 'image_url' }]), 'missing_required_parameter', 'messages.0.content.0.image_url'],
    [
      message([{ type: 'image_url', image_url: { url: 3 } }]),
      'invalid_value',
      'messages.0.content.0.image_url.url',
    ],
    [message([{ type: 'hologram' }]), 'invalid_value', 'messages.0.content.0'],
    [{ model: 'm', messages: [{ role: 'boss', content: 'x' }] }, 'invalid_value', 'messages.0.role'],
    [
      { ...message('x'), response_format: { type: 'json_schema' } },
      'missing_required_parameter',
      'response_format.json_schema',
    ],
    [{ ...message('x'), response_format: { type: 'xml' } }, 'invalid_value', 'response_format'],
    [{ ...message('x'), tool_choice: 'any' }, 'invalid_value', 'tool_choice'],
    [
      { ...message('x'), tool_choice: { type: 'function' } },
      'missing_required_parameter',
      'tool_choice.function',
    ],
    [[], 'invalid_request', null],
  ])('names the invalid field of %j', (body, code, param) => {
    expect(problemOf(() => checkChat(body))).toMatchObject({ code, param })
  })

  it('names the allowed values', () => {
    expect(problemOf(() => checkChat({ ...message('x'), temperature: 9 }))?.message).toBe(
      "'temperature' must be at most 2.",
    )
    expect(problemOf(() => checkChat(message(5)))?.message).toBe(
      "'messages.0.content' must be a string or a list.",
    )
    const messageFor = (members: object) =>
      problemOf(() => checkChat({ ...message('x'), ...members }))?.message
    expect(messageFor({ tool_choice: 'any' })).toBe(
      "'tool_choice' must be one of none, auto, required or an object.",
    )
    expect(messageFor({ response_format: { type: 'xml' } })).toBe(
      "'response_format' must have a type of text, json_object, json_schema.",
    )
  })
})

describe('compileConversion', () => {
  const convert = compileConversion(
    Type.Object({
      limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
      after: Type.Optional(Type.String()),
    }),
  )

  it('reads numbers from text and fills in defaults', () => {
    expect(convert({ limit: '7' })).toEqual({ limit: 7 })
    expect(convert({})).toEqual({ limit: 20 })
  })

  it('refuses values that are out of range', () => {
    expect(problemOf(() => convert({ limit: '0' }))).toMatchObject({ code: 'invalid_value', param: 'limit' })
    expect(problemOf(() => convert({ limit: 'many' }))).toMatchObject({
      code: 'invalid_value',
      param: 'limit',
    })
  })
})

describe('a check that fails', () => {
  it('stops at the first problem, however many there are', () => {
    let looked = 0
    const wrong = Array.from({ length: 1_000 }, () => ({
      get role() {
        looked += 1
        return 'robot'
      },
      content: 'x',
    }))
    expect(problemOf(() => checkChat({ model: 'm', messages: wrong }))).toMatchObject({
      param: 'messages.0.role',
    })
    expect(looked).toBeLessThan(100)
  })

  it('visits what precedes the problem a few times, not once for each part of it', () => {
    let looked = 0
    const good = Array.from({ length: 1_000 }, () => ({
      get role() {
        looked += 1
        return 'user'
      },
      content: [{ type: 'text', text: 'x' }],
    }))
    const bad = { role: 'user', content: [{ type: 'text', text: 'x' }, { type: 'text' }] }
    expect(problemOf(() => checkChat({ model: 'm', messages: [...good, bad] }))).toMatchObject({
      param: 'messages.1000.content.1.text',
    })
    expect(looked).toBeLessThan(30 * good.length)
  })

  it('shows only the beginning of a very long name', () => {
    const problem = problemOf(() => checkChat({ ...message('x'), metadata: { ['n'.repeat(100_000)]: 1 } }))
    expect([problem?.code, (problem?.message ?? '').length < 1_000]).toEqual(['invalid_value', true])
  })

  it('agrees with the validator on the problem, for every body', () => {
    const part = fc.constantFrom({ type: 'text', text: 'a' }, { type: 'text' }, { type: 'hologram' }, 7, null)
    const content = fc.oneof(fc.string(), fc.array(part, { maxLength: 3 }), fc.constantFrom(null, 5, {}))
    const body = fc.record(
      {
        model: fc.oneof(fc.string(), fc.constant(5)),
        messages: fc.array(
          fc.record({ role: fc.constantFrom('user', 'robot', 1), content }, { requiredKeys: [] }),
        ),
        temperature: fc.oneof(fc.double(), fc.constantFrom(null, 'hot')),
        stop: fc.oneof(fc.string(), fc.array(fc.oneof(fc.string(), fc.integer())), fc.integer()),
        tool_choice: fc.oneof(fc.constantFrom('auto', 'any', { type: 'function' }), fc.object()),
        metadata: fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer())),
      },
      { requiredKeys: [] },
    )
    const validator = Compile(ChatRequest)
    fc.assert(
      fc.property(body, (given) => {
        const problem = problemOf(() => checkChat(given))
        expect(problem === null).toBe(validator.Check(given))
        // The message must name the problem, not only say that there is one.
        expect(problem?.message).not.toBe('The request is not valid.')
      }),
    )
  })
})
