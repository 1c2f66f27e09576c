import { expect, test } from 'vitest'

import { mergeGenerators } from './merge-generators.ts'

async function* count(name: string, upTo: number, onEnd: () => void = () => {}): AsyncGenerator<string> {
  try {
    for (let value = 1; value <= upTo; value += 1) yield `${name}${value}`
  } finally {
    onEnd()
  }
}

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const values: T[] = []
  for await (const value of source) values.push(value)
  return values
}

test('every value of every source comes through, in the order of its source', async () => {
  const merged = await collect(mergeGenerators([count('a', 3), count('b', 50), count('c', 0)]))
  expect(merged).toHaveLength(53)
  expect(merged.filter((value) => value.startsWith('a'))).toEqual(['a1', 'a2', 'a3'])
  expect(merged.filter((value) => value.startsWith('b')).at(-1)).toBe('b50')
})

test('a slow source does not hold the others back', async () => {
  const gate = Promise.withResolvers<void>()
  async function* slow(): AsyncGenerator<string> {
    await gate.promise
    yield 'slow'
  }
  const merged: string[] = []
  for await (const value of mergeGenerators([slow(), count('fast', 3)])) {
    merged.push(value)
    if (value === 'fast3') gate.resolve()
  }
  expect(merged).toEqual(['fast1', 'fast2', 'fast3', 'slow'])
})

test('the first error ends all sources', async () => {
  const ended: string[] = []
  async function* broken(): AsyncGenerator<string> {
    yield 'x'
    throw new Error('broken')
  }
  const merged = mergeGenerators([broken(), count('a', 1_000, () => ended.push('a'))])
  await expect(collect(merged)).rejects.toThrow('broken')
  await expect.poll(() => ended).toEqual(['a'])
})

test('stopping the iteration stops every source', async () => {
  const ended: string[] = []
  const sources = ['a', 'b'].map((name) => count(name, 1_000, () => ended.push(name)))
  for await (const value of mergeGenerators(sources)) {
    expect(value).toMatch(/1$/)
    break
  }
  await expect.poll(() => ended.toSorted()).toEqual(['a', 'b'])
})
