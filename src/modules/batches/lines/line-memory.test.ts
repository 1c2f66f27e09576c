import { expect, test } from 'vitest'
import { LineMemory } from './line-memory.ts'

const MIB = 1024 * 1024

test('lines that run at once share the memory of bodies, and a line that is too long runs alone', () => {
  const memory = new LineMemory()
  expect(memory.room).toBe(Infinity)
  memory.begin(3 * MIB)
  expect(memory.room).toBe(5 * MIB)
  memory.end(3 * MIB)
  expect(memory.room).toBe(Infinity)
})

test('fewer lines run at once while their answers are long, and more again when they are short', () => {
  const memory = new LineMemory()
  memory.noteAnswer(6 * MIB)
  memory.begin(100)
  expect(memory.room).toBeGreaterThan(0)
  memory.begin(100)
  expect(memory.room).toBeLessThan(0)
  for (let answer = 0; answer < 100; answer += 1) memory.noteAnswer(1_000)
  expect(memory.room).toBeGreaterThan(0)
})

test('few lines with long answers run at once before the first answer came, and never as many as lines of text', () => {
  const memory = new LineMemory(MIB)
  const begun = (): number => {
    let lines = 0
    while (memory.room > 0) {
      memory.begin(100)
      lines += 1
    }
    for (let line = 0; line < lines; line += 1) memory.end(100)
    return lines
  }
  expect(begun()).toBe(4)
  for (let answer = 0; answer < 200; answer += 1) memory.noteAnswer(1_000)
  expect(begun()).toBe(16)
})
