import { expect, test } from 'vitest'
import { errorKeyOf, generalise, type ErrorIdentity } from './error-key.ts'

const error: ErrorIdentity = {
  outcome: 'failed',
  httpStatus: 502,
  errorCode: 'provider_error',
  errorMessage: "The provider 'openai' answered with an error.",
  upstreamStatus: 401,
  upstreamCode: 'invalid_api_key',
  upstreamMessage: 'Incorrect API key provided: [redacted].',
}

test.each([
  ['Rate limit of 500 reached, wait 1.25s', 'Rate limit of 30 reached, wait 7s'],
  ["The model 'gpt-5' does not exist", "The model 'o9' does not exist"],
  ['No file file-abc123 here', 'No file file-9zz here'],
])('equal errors have one key: %s', (one, other) => {
  expect(errorKeyOf({ ...error, upstreamMessage: one })).toBe(
    errorKeyOf({ ...error, upstreamMessage: other }),
  )
})

test('another status, code or message is another error', () => {
  const keys = [
    error,
    { ...error, upstreamStatus: 403 },
    { ...error, upstreamCode: 'other' },
    { ...error, httpStatus: 504 },
    { ...error, upstreamMessage: 'Something else.' },
    { ...error, upstreamMessage: null },
  ].map(errorKeyOf)
  expect(new Set(keys).size).toBe(keys.length)
})

test('a long message is read in linear time', () => {
  for (const piece of ["'", 'a', '1', '-']) expect(generalise(piece.repeat(500_000)).length).toBeLessThan(201)
})
