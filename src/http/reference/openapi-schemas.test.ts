import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { described } from '../../wires/described.ts'
import { collectComponents } from './openapi-schemas.ts'

describe('the schemas of the reference', () => {
  test('a field has the description of its own schema and inherits none by its name', () => {
    const { read } = collectComponents({})
    const schema = Type.Object({ mode: Type.String(), id: Type.String({ description: 'The id of a test.' }) })
    expect(read(schema)['properties']).toEqual({
      mode: { type: 'string' },
      id: { type: 'string', description: 'The id of a test.' },
    })
  })

  test('members that describe a named schema differently refer to one component', () => {
    const components = collectComponents({})
    const Figure = Type.Object({ p50: Type.Number({ description: 'The median.' }) }, { title: 'Figure' })
    const schema = Type.Object({
      first: described(Figure, 'Until the first token.'),
      last: Type.Optional(described(Figure, 'Until the last token.')),
      plain: Figure,
    })
    const $ref = '#/components/schemas/Figure'
    expect(components.read(schema)['properties']).toEqual({
      first: { $ref, description: 'Until the first token.' },
      last: { $ref, description: 'Until the last token.' },
      plain: { $ref },
    })
    expect(Object.entries(components.all()).map(([name, { description }]) => [name, description])).toEqual([
      ['Figure', undefined],
    ])
  })
})
