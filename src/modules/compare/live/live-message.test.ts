import { expect, test } from 'vitest'
import { PAYLOAD_BYTES_MAX } from '../../../storage/bus/bus-message.ts'
import { decodeLive, ENTRIES_MAX, TEXT_LENGTH_MAX, type LiveMessage } from './live-message.ts'

test('the largest message fits into one of the bus, and is read as it was sent', () => {
  const key = { promptIndex: 999, repeat: 9, lanePosition: 9 }
  const message: LiveMessage = {
    runId: '01930000-0000-7000-8000-000000000000',
    pieces: Array.from({ length: ENTRIES_MAX }, () => ({
      ...key,
      attempt: 1_900_000_000_000,
      offset: 10_000_000,
      // Half of a pair, which takes the most room in JSON.
      text: '\uD83D'.repeat(TEXT_LENGTH_MAX / ENTRIES_MAX),
    })),
    ended: Array.from({ length: ENTRIES_MAX }, () => ({ ...key, status: 'completed' as const })),
    isRunOver: false,
  }
  const text = JSON.stringify(message)
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(PAYLOAD_BYTES_MAX)
  expect(decodeLive(text)).toEqual(message)
})

test('a message of another release is ignored', () => {
  expect(decodeLive('{"runId":"run","parts":[]}')).toBeNull()
})
