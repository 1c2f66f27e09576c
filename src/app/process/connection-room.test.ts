import { expect, test } from 'vitest'
import { roomForConnections } from './connection-room.ts'

test.each([
  ['the setting, where there are files enough', 10_000, 1_048_576, 10_000],
  ['the setting, where there is no limit', 10_000, Infinity, 10_000],
  ['half of the files beyond our own', 10_000, 4_096, 1_998],
  ['never none', 10_000, 64, 1],
])('%s', (_case, connectionsMax, openFilesMax, room) => {
  expect(roomForConnections(connectionsMax, openFilesMax)).toBe(room)
})

test("the system's limit is read", () => {
  expect(roomForConnections(1_000_000)).toBeLessThan(1_000_000)
})
