import { expect, test } from 'vitest'
import { ResultRoom } from './result-room.ts'

test('no further line is asked once the answers take what those of a batch may, with those of earlier workers', () => {
  const room = new ResultRoom(60, 100)
  expect(room.add(39)).toBeNull()
  expect(room.add(1)?.message).toContain('in another batch')
  expect(new ResultRoom(100, 100).add(0)).not.toBeNull()
})
