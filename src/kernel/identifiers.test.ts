import { describe, expect, it } from 'vitest'
import { createId, createToken, isUuid } from './identifiers.ts'

describe('createId', () => {
  it('is a UUID of version 7 that contains its time', () => {
    const id = createId(0x0123456789ab)
    expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(isUuid(id)).toBe(true)
  })

  it('sorts by time', () => {
    const ids = [1, 2, 1_000, 1_700_000_000_000, 1_700_000_000_001].map((nowMs) => createId(nowMs))
    expect(ids.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(ids)
  })

  it('is always unique', () => {
    expect(new Set(Array.from({ length: 10_000 }, () => createId(5))).size).toBe(10_000)
  })
})

describe('isUuid', () => {
  it.each([
    '',
    'x',
    '0123456789ab',
    '01234567-89ab-7000-8000-00000000000',
    "01234567-89ab-7000-8000-00000000000'",
  ])('refuses %j', (text) => {
    expect(isUuid(text)).toBe(false)
  })
})

describe('createToken', () => {
  it('has 96 random bits after its prefix, and is always unique', () => {
    const tokens = Array.from({ length: 5_000 }, () => createToken('req_'))
    expect(new Set(tokens).size).toBe(5_000)
    for (const token of tokens) expect(token).toMatch(/^req_[0-9a-f]{24}$/)
  })
})
