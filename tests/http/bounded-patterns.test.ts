import { afterAll, beforeAll, expect, test } from 'vitest'
import { isRecord } from '../../src/kernel/is-record.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(() => gateway.close())

test('every text of a body or parameter that must have a form has a length, which is checked before the form', async () => {
  const { body: document } = await gateway.request('GET', '/openapi.json')
  const forms = [...listForms(document.paths, 'paths'), ...listForms(document.components.schemas, 'schemas')]
  expect(forms.length).toBeGreaterThan(20)
  expect(forms.filter(({ isBounded }) => !isBounded).map(({ place }) => place)).toEqual([])
})

interface Form {
  readonly place: string
  readonly isBounded: boolean
}

function listForms(value: unknown, place: string): Form[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([name, member]) => listForms(member, `${place}/${name}`))
  if (!isRecord(value) || typeof value['pattern'] !== 'string') return inner
  const isBounded = value['maxLength'] !== undefined || !mayRepeatForever(value['pattern'])
  return [{ place: `${place}: ${value['pattern']}`, isBounded }, ...inner]
}

function mayRepeatForever(pattern: string): boolean {
  const signs = pattern.replaceAll(/\\./g, 'x').replaceAll(/\[[^\]]*\]/g, 'x')
  return /[*+]|\{\d+,\}/.test(signs)
}
