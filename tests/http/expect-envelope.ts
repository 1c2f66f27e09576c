import { expect } from 'vitest'
import type { TestAnswer } from '../support/start-test-gateway.ts'

/** Checks the complete error answer to a bad request: status, envelope and the headers that every answer has. */
export function expectEnvelope(answer: TestAnswer, status: number, error: object): void {
  expect([answer.status, answer.body]).toEqual([
    status,
    {
      error: {
        message: expect.stringMatching(/.+/),
        type: 'invalid_request_error',
        param: null,
        request_id: answer.headers.get('x-request-id'),
        ...error,
      },
    },
  ])
  expect(answer.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/)
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
}
