import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { described } from './described.ts'

describe('described', () => {
  test('a described schema accepts the same values, and the shared one stays as it was', () => {
    const Name = Type.String({ maxLength: 3, description: 'A name.' })
    const Owner = described(Name, 'The name of the owner.')
    expect([Value.Check(Owner, 'abc'), Value.Check(Owner, 'abcd')]).toEqual([true, false])
    expect([Name, Owner]).toMatchObject([
      { description: 'A name.' },
      { description: 'The name of the owner.' },
    ])
  })

  test('a described member stays optional', () => {
    const Count = Type.Optional(Type.Integer())
    const Body = Type.Object({
      inner: described(Count, 'One.'),
      outer: Type.Optional(described(Count, 'Two.')),
    })
    expect([Value.Check(Body, {}), Value.Check(Body, { inner: 'no' })]).toEqual([true, false])
  })
})
