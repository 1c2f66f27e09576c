import { describe, expect, test } from 'vitest'
import { AppError } from '../../kernel/app-error.ts'
import { toAppError, toErrorAnswer } from './error-envelope.ts'

const headersOf = (error: AppError) => toErrorAnswer(error, 'req_1').headers

describe('a 503', () => {
  test('tells when to ask again if waiting helps', () => {
    expect(headersOf(new AppError('capacity_exhausted', 'Full.'))['retry-after']).toBe('2')
    expect(headersOf(new AppError('service_unavailable', 'Busy.', { retryAfterSeconds: 7 }))).toMatchObject({
      'retry-after': '7',
    })
  })

  test('tells not to ask again if it does not', () => {
    const final = { 'x-should-retry': 'false' }
    expect(headersOf(new AppError('provider_not_configured', 'None.'))).toEqual(final)
    expect(headersOf(new AppError('service_unavailable', 'Unknown.', { mayBeDone: true }))).toEqual(final)
  })
})

describe('a connection that was reset', () => {
  const errorWith = (message: string, members: object) => Object.assign(new Error(message), members)

  test('is our problem, if it was one of the services that the gateway needs', () => {
    for (const code of ['ECONNRESET', 'ECONNABORTED', 'EPIPE']) {
      const error = toAppError(errorWith(`read ${code}`, { code, syscall: 'read' }))
      expect([error.code, error.retryAfterSeconds]).toEqual(['service_unavailable', 2])
    }
    expect(toAppError(errorWith('socket hang up', { code: 'ECONNRESET' })).code).toBe('service_unavailable')
  })

  test("is the client's, if it was its own", () => {
    expect(toAppError(errorWith('aborted', { code: 'ECONNRESET' })).code).toBe('invalid_request')
  })
})
