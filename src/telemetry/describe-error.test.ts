import { expect, it } from 'vitest'
import { describeError } from './describe-error.ts'

it('describes an error with its origin and its causes', () => {
  const error = Object.assign(new TypeError('broken', { cause: new Error('below') }), { code: 'E_BROKEN' })
  expect(describeError(error)).toEqual({
    type: 'TypeError',
    message: 'broken',
    code: 'E_BROKEN',
    stack: expect.stringContaining('describe-error.test.ts'),
    cause: expect.objectContaining({ type: 'Error', message: 'below' }),
  })
})

it('omits members that a driver added to its error', () => {
  const error = Object.assign(new Error('lost'), { client: { secretKey: 49_529_456 } })
  expect(JSON.stringify(describeError(error))).not.toContain('49529456')
})

it('terminates for an error that is its own cause', () => {
  const error = new Error('round and round')
  error.cause = error
  expect(JSON.stringify(describeError(error)).length).toBeLessThan(20_000)
})
