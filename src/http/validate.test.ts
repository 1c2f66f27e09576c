import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { AppError } from '../kernel/app-error.ts'
import { ChatRequest } from '../providers/chat-wire.ts'
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
  it('passes a good request with fields it does not know', () => {
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
  ])('names the offending field of %j', (body, code, param) => {
    expect(problemOf(() => checkChat(body))).toMatchObject({ code, param })
  })

  it('says what is allowed', () => {
    expect(problemOf(() => checkChat({ ...message('x'), temperature: 9 }))?.message).toBe(
      "'temperature' must be <= 2.",
    )
    expect(problemOf(() => checkChat(message(5)))?.message).toBe(
      "'messages.0.content' must be of type string or array.",
    )
    const messageFor = (members: object) =>
      problemOf(() => checkChat({ ...message('x'), ...members }))?.message
    expect(messageFor({ tool_choice: 'any' })).toBe(
      "'tool_choice' must be one of none, auto, required or of type object.",
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

  it('refuses what is out of bounds', () => {
    expect(problemOf(() => convert({ limit: '0' }))).toMatchObject({ code: 'invalid_value', param: 'limit' })
    expect(problemOf(() => convert({ limit: 'many' }))).toMatchObject({
      code: 'invalid_value',
      param: 'limit',
    })
  })
})
