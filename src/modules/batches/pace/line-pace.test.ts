import { expect, test } from 'vitest'
import { InteractiveLoad } from './interactive-load.ts'
import { LinePace } from './line-pace.ts'

const CHAT = '/v1/chat/completions'

test('lines begin at once while nobody asks, and apart from each other while somebody does', () => {
  const load = { isSeen: false }
  const pace = new LinePace(load)
  pace.noteBegun(100, 1_000)
  expect(pace.pauseMs(1_000)).toBe(0)
  load.isSeen = true
  pace.noteBegun(100, 1_000)
  expect(pace.pauseMs(1_000)).toBeGreaterThan(0)
  const shortMs = pace.pauseMs(1_000)
  expect(pace.pauseMs(1_000 + shortMs)).toBe(0)
  pace.noteBegun(1024 * 1024, 2_000)
  expect(pace.pauseMs(2_000)).toBeGreaterThan(10 * shortMs)
})

test('answers are written together while somebody asks, and at once otherwise', () => {
  const load = { isSeen: false }
  const pace = new LinePace(load)
  expect(pace.gather()).toBeNull()
  load.isSeen = true
  const gathering = pace.gather()
  expect(gathering).toBeInstanceOf(Promise)
  expect(pace.gather()).toBe(gathering)
})

test('somebody asks while a request to a model runs, and a moment longer', () => {
  let nowMs = 0
  const load = new InteractiveLoad([CHAT], () => nowMs)
  expect(load.isSeen).toBe(false)
  load.started('/v1/batches/:id')
  expect(load.isSeen).toBe(false)
  load.started(CHAT)
  expect(load.isSeen).toBe(true)
  load.finished(CHAT)
  expect(load.isSeen).toBe(true)
  nowMs = 10_000
  expect(load.isSeen).toBe(false)
})
