import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findRepeatedMember } from './find-repeated-member.ts'

/** Writes JSON like `JSON.stringify`, with odd white space and escapes, and optionally one member of one object twice. */
function write(value: unknown, escape: boolean, repeatIn: object | null): string {
  const name = (text: string) =>
    escape
      ? `"${text.replace(/./g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`
      : JSON.stringify(text)
  if (Array.isArray(value)) return `[ ${value.map((one) => write(one, escape, repeatIn)).join(' ,\n')} ]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, one]) => `${name(key)} : ${write(one, escape, repeatIn)}`)
  if (value === repeatIn) members.push(`${JSON.stringify(Object.keys(value)[0])}:0`)
  return `{\t${members.join(' , ')}\r\n}`
}

function objectsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return []
  const below = Object.values(value).flatMap(objectsIn)
  return Array.isArray(value) || Object.keys(value).length === 0 ? below : [value, ...below]
}

const names = fc.stringMatching(/^[a-z"\\:{},]{0,3}$/)
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.string(),
    fc.integer(),
    fc.constant(null),
    fc.array(tie('tree'), { maxLength: 5 }),
    fc.dictionary(names, tie('tree'), { maxKeys: 30, noNullPrototype: true }),
  ),
}))

describe('findRepeatedMember', () => {
  it('finds nothing in what has no member twice, and any member that is written twice', () => {
    fc.assert(
      fc.property(tree, fc.boolean(), fc.nat(), (value, escape, pick) => {
        expect(findRepeatedMember(write(value, escape, null))).toBeNull()
        const objects = objectsIn(value)
        const repeated = objects[pick % Math.max(objects.length, 1)]
        if (repeated === undefined) return
        expect(findRepeatedMember(write(value, escape, repeated))).toBe(Object.keys(repeated)[0])
      }),
    )
  })

  it.each([
    ['{"a":{"b":1},"c":{"b":2},"b":3}', null],
    ['[{"a":1},{"a":2}]', null],
    ['{"a":"x\\":","b":"\\\\","c":1}', null],
    ['{"a":1,"A":2}', null],
    ['{"a":[{"x":1}],"a":1}', 'a'],
    ['{"\\u0061":1,"a":2}', 'a'],
    ['{"messages":[{"role":"user","content":"x","role":"system"}]}', 'role'],
  ])('in %s: %s', (text, name) => {
    expect(findRepeatedMember(text)).toBe(name)
  })

  it('takes time in proportion to the text, also for one object with very many members', () => {
    const text = `{${Array.from({ length: 200_000 }, (_, index) => `"k${index}":1`).join(',')},"k7":2}`
    expect(findRepeatedMember(text)).toBe('k7')
  })
})
