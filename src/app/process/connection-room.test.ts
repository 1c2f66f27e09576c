import { expect, test } from 'vitest'
import { roomForConnections, roomForRefused } from './connection-room.ts'

test.each([
  ['the setting, where there are files enough', 10_000, 1_048_576, 10_000],
  ['the setting, where there is no limit', 10_000, Infinity, 10_000],
  ['half of the files beyond our own and those of refused connections', 10_000, 4_096, 1_742],
  ['never none', 10_000, 64, 1],
])('%s', (_case, connectionsMax, openFilesMax, room) => {
  expect(roomForConnections(connectionsMax, openFilesMax)).toBe(room)
})

test("the system's limit is read", () => {
  expect(roomForConnections(1_000_000)).toBeLessThan(1_000_000)
})

test.each([256, 1_024, 4_096, 65_536])('a process with %i open files never needs more', (openFilesMax) => {
  const served = roomForConnections(Infinity, openFilesMax)
  const ownFiles = 100
  expect(2 * served + roomForRefused(openFilesMax) + ownFiles).toBeLessThanOrEqual(openFilesMax)
})
