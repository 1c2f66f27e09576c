import { describe, expect, test } from 'vitest'
import { AppError } from '../../kernel/app-error.ts'
import { toErrorAnswer } from './error-envelope.ts'

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
