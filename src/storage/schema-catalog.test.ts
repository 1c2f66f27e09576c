import { array, assert, nat, property } from 'fast-check'
import { expect, test } from 'vitest'
import { orderByDependency } from './schema-catalog.ts'

// Tables reference only tables with a higher number, so there is no cycle, and the input is in the wrong order.
const acyclicTables = array(array(nat(40), { maxLength: 4 }), { maxLength: 20 }).map((references) =>
  references.map((steps, index) => ({
    name: `t${index}`,
    parents: steps
      .map((step) => index + 1 + step)
      .filter((parent) => parent < references.length)
      .map((parent) => `t${parent}`),
  })),
)

test('every table comes after all tables it refers to, and none is lost', () => {
  assert(
    property(acyclicTables, (tables) => {
      const names = orderByDependency(tables).map(({ name }) => name)
      expect([...names].sort()).toEqual(tables.map(({ name }) => name).sort())
      for (const { name, parents } of tables) {
        for (const parent of parents) expect(names.indexOf(parent)).toBeLessThan(names.indexOf(name))
      }
    }),
  )
})

test('tables that refer to each other are kept, after the others', () => {
  const tables = [
    { name: 'egg', parents: ['hen'] },
    { name: 'hen', parents: ['egg'] },
    { name: 'farm', parents: [] },
  ]
  expect(orderByDependency(tables).map(({ name }) => name)).toEqual(['farm', 'egg', 'hen'])
})
