import { describe, expect, it } from 'vitest'
import { describeNetworkError } from '../ai-sdk/exchange/describe-network-error.ts'
import { describeTransportFailure } from '../openai-compatible/transport-failure.ts'
import { shortageCodeOf } from './shortage-code.ts'

const failing = (code: string): Error => Object.assign(new Error(`connect ${code}`), { code })

describe('shortageCodeOf', () => {
  it.each(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EADDRNOTAVAIL', 'EAGAIN'])('recognises %s', (code) => {
    expect(shortageCodeOf(failing(code))).toBe(code)
    expect(shortageCodeOf(new AggregateError([failing(code), failing('ECONNREFUSED')]))).toBe(code)
    expect(shortageCodeOf(new Error('no connection', { cause: failing(code) }))).toBe(code)
    expect(describeNetworkError('p', failing(code))[1]).toMatchObject({
      failure: 'local',
      upstreamCode: code,
    })
    expect(describeTransportFailure('p', failing(code), false).details).toMatchObject({
      failure: 'local',
      upstreamCode: code,
    })
  })

  it.each(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT'])(
    'leaves %s to the upstream',
    (code) => {
      expect(shortageCodeOf(failing(code))).toBeNull()
      expect(describeTransportFailure('p', failing(code), false).details.failure).not.toBe('local')
    },
  )
})
