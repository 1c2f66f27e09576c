import { expect, it } from 'vitest'
import { describeError } from './describe-error.ts'

it('tells what an error is, where it came from and what caused it', () => {
  const error = Object.assign(new TypeError('broken', { cause: new Error('below') }), { code: 'E_BROKEN' })
  expect(describeError(error)).toEqual({
    type: 'TypeError',
    message: 'broken',
    code: 'E_BROKEN',
    stack: expect.stringContaining('describe-error.test.ts'),
    cause: expect.objectContaining({ type: 'Error', message: 'below' }),
  })
})

it('leaves out what a driver hung on its error', () => {
  const error = Object.assign(new Error('lost'), { client: { secretKey: 49_529_456 } })
  expect(JSON.stringify(describeError(error))).not.toContain('49529456')
})

it('ends with an error that is its own cause', () => {
  const error = new Error('round and round')
  error.cause = error
  expect(JSON.stringify(describeError(error)).length).toBeLessThan(20_000)
})
