import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BoundedLog, readLastLines } from './bounded-log.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'parkway-log-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const textsOf = async (linesMax = 100_000) =>
  (await readLastLines(directory, linesMax)).map((line) => line.slice(line.indexOf(' ') + 1))

test('a log joins partial lines, and removes colours and overwritten progress bars', async () => {
  const log = new BoundedLog(directory)
  log.write('one\ntw')
  log.write('o\n 1%\r 50%\r100%\r\n\u001B[31mred\u001B[0m\u0007\n\nlast')
  expect(log.takeRecent()).toEqual(['one', 'two', '100%', 'red', 'last'])
  expect(log.takeRecent()).toEqual([])
  log.line('end')
  expect(await textsOf()).toEqual(['one', 'two', '100%', 'red', 'last', 'end'])
  expect(await textsOf(1)).toEqual(['end'])
})

test('a log is limited in size, with many lines or with an endless line', async () => {
  const log = new BoundedLog(directory)
  for (let number = 0; number < 20_000; number += 1) log.write(`${number} ${'x'.repeat(50)}\n`)
  for (let number = 0; number < 1_000; number += 1) log.write('y'.repeat(1_500))
  log.write('\nafter\n')
  for (const name of readdirSync(directory))
    expect(statSync(join(directory, name)).size).toBeLessThanOrEqual(256 * 1024)
  const texts = await textsOf()
  expect(texts.at(-1)).toBe('after')
  expect(texts.filter((text) => text.startsWith('y')).map(({ length }) => length)).toEqual([2_000])
})

test('a log whose directory was deleted is empty and does not fail', async () => {
  const log = new BoundedLog(directory)
  rmSync(directory, { recursive: true })
  log.write('one\n')
  expect(await textsOf()).toEqual([])
})
